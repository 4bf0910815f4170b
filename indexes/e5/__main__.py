"""`python -m indexes.e5`: builds the default model where it is missing, and prints its folder."""

import sys

from indexes.model import ModelError, ensure
from indexes.progress import shown


def main() -> int:
    """0: it stands there now. 1: it could not be had; standard error says why."""
    try:
        with shown() as bar:
            folder = ensure(bar)
    except ModelError as fault:
        print(fault, file=sys.stderr)
        return 1
    print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
