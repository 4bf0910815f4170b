"""fiador: every command. Exit 0 done, 1 a check failed, 2 bad input."""

from proxy.cli import judging, keeping, keys, running, spend
from proxy.cli.base import main

__all__ = ["judging", "keeping", "keys", "main", "running", "spend"]
