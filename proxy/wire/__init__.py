"""Pure translation between bytes and values, by allow-lists both ways."""
