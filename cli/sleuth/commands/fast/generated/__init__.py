"""Help texts and completion tables, written by `python -m tools.generate`."""
