"""Layer 1: what must never be answered, refused by patterns before anything is searched or embedded."""
