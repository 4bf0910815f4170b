"""The words of a request, the interfaces that a request needs, and everything that can go wrong."""
