"""`python -m benchmarks.quality`: print the table, quickly, without writing results."""

from __future__ import annotations

import argparse

from benchmarks import testsets
from benchmarks.metrics import mean
from benchmarks.quality.run import measure


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument(
        "--only", choices=["firstlight", "bm25s", "fts5", "tantivy"], help="one contender alone"
    )
    parser.add_argument("--sets", default=",".join(testsets.NAMES), help="collections, separated by commas")
    options = parser.parse_args()
    names = options.sets.split(",")
    figures = measure(names, only=options.only)
    for name in names:
        print(name, *(f"\n  {score:.4f}  {who}" for who, score in figures[name].items()))
    for who in sorted(set.intersection(*(set(scores) for scores in figures.values()))):
        print(f"{mean(figures[name][who] for name in names):.4f}  {who}, average")


if __name__ == "__main__":
    main()
