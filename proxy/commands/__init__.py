"""What each command of `fiador` does; `proxy.cli` only names and parses them."""
