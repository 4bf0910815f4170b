"""Money: reserve an upper bound before the call, settle the real cost after it."""
