"""Evidence, found by words and by meaning, seen only by those who may. Knows nothing of HTTP."""
