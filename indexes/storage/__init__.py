"""The ground for whatever keeps files: SQLite opened strictly, group commit, locks and checksums of files."""
