"""nDCG@10 on labelled collections: `python -m benchmarks.quality [--only NAME] [--sets NAME,...]`."""
