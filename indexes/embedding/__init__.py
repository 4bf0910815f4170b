"""Text to unit vectors: model folders, the default one that is built, vectors in memory and in the truth."""
