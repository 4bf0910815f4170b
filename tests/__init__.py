"""The tests mirror the packages; `fakes` and `strategies` are shared."""
