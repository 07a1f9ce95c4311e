"""firstlight beside its peers, in one run: `python -m benchmarks all`."""
