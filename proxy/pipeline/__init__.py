"""One request, top to bottom: start at `answer`."""
