"""`python -m bench COMMAND …`: each command is a module with `run(arguments) -> exit code`."""

import sys
from importlib import import_module

COMMANDS = {
    "overhead": "CPU and latency that the proxy adds, beside the upstream alone",
    "gate": "CPU a token and a delta with all checks on; linearity; memory",
    "search": "retrieval at 10k and 100k passages with 1, 10 and 100 % allowed",
    "ledger": "reserve + settle pairs a second, beside plain SQLite commits",
    "structure": "names, double classes, circles of imports, depth of one request",
    "real_model": "a small disobedient model on llama.cpp behind the proxy",
    "quality": "labelled sets: text, gate, mutations, retrieval, refusal, permissions, …",
}


def main(arguments: list[str]) -> int:
    """Runs one command; without one, or with an unknown one, lists them (exit 2)."""
    if not arguments or arguments[0] not in COMMANDS:
        print("usage: python -m bench COMMAND …\n")
        print("\n".join(f"  {name:10} {text}" for name, text in COMMANDS.items()))
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    return int(import_module(f"bench.{arguments[0]}").run(arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
