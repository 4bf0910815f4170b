"""`python -m proxy.commands`: the same as `fiador`."""

from proxy.commands.root import main

main()
