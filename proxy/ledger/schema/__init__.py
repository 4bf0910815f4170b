"""The ledger's tables, as one file of SQL that may be run again at any time."""

from importlib.resources import files

LEDGER = files(__name__).joinpath("ledger.sql").read_text(encoding="utf-8")
