"""The ledger's tables, as one file of SQL that may be run again at any time."""

from importlib.resources import files

VERSION = 1
"""Layout of the tables, stamped into each file as SQLite's `user_version`."""
LEDGER_SCHEMA = files(__name__).joinpath("ledger.sql").read_text(encoding="utf-8")
