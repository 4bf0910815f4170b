"""Quality on labelled sets: `python -m bench quality PART --data DIR`."""

from importlib import import_module

PARTS = {
    "text": "sentences, markers, values, folding, first person, length: right of total a table and language",
    "gate": "labelled answers streamed through the real gate",
    "mutations": "faithful sentences with every value altered: all must stop, the originals must pass",
    "retrieval": "recall@k: keywords, dense, hybrid",
    "refusal": "how well the similarity separates answerable questions from others",
    "permissions": "leaks; must be 0",
    "dialects": "recorded upstream streams through the decoder and the whole proxy",
    "refusal-patterns": "layer 1 on must-refuse questions, near misses and overview questions",
    "injection": "attacks refused, look-alikes wrongly refused",
}


def run(arguments: list[str]) -> int:
    """Runs one part; without one, or with an unknown one, lists them (exit 2)."""
    if not arguments or arguments[0] not in PARTS:
        print("usage: python -m bench quality PART …\n")
        print("\n".join(f"  {name:17} {text}" for name, text in PARTS.items()))
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    module = arguments[0].replace("-", "_")
    return int(import_module(f"bench.quality.{module}").run(arguments[1:]))
