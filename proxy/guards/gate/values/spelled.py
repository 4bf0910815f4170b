"""Spelled-out numbers and ordinals, by the small tables of a language."""

from proxy.guards.gate.values.pack import Tongue
from proxy.guards.gate.values.page import Page


def read_spelled(page: Page, tongue: Tongue, source: bool) -> None:
    """Take the spelled-out numbers of `page`; in an answer only words that can mean nothing else."""
