"""Pure decisions on text: no I/O, no clock, no logging, no async."""
