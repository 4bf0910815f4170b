"""The server, and all that one request goes through. Start at `pipeline.answer`."""
