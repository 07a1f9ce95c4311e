"""BM25, vectors and both, on the labelled collections: `python -m benchmarks hybrid`."""
