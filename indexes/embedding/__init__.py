"""Text to unit vectors: model folders, the one that is built by default, vectors in memory and in the truth."""
