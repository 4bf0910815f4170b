"""`python -m proxy.cli`: the same as `fiador`."""

from proxy.cli import main

main()
