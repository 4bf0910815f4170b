"""Measurements: speed and memory as ratios in one run, quality on labelled sets. `python -m bench`."""
