"""`python -m benchmarks all [--quick]`, or one by its name: quality, speed.build, ..., plot."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING

from benchmarks import report
from benchmarks.options import Options

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = (
    "quality",
    "hybrid",
    "longqa",
    "speed.first_answer",
    "speed.warm",
    "speed.sync",
    "speed.build",
    "speed.questions",
    "speed.adding",
    "speed.scale",
    "speed.unseen",
    "speed.vectors",
    "speed.embedding",
    "speed.background",
    "speed.digest",
    "speed.context",
)
MODULES = {
    "quality": "quality.run",
    "hybrid": "hybrid.run",
    "longqa": "longqa.run",
}  # the others are called after their modules


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="+", choices=["all", "plot", *NAMES], metavar="NAME", help=", ".join(NAMES)
    )
    parser.add_argument("--quick", action="store_true", help="small sizes; results go to .bench/quick")
    parser.add_argument("--only", default="", help="contenders, separated by commas; nothing is written then")
    asked = parser.parse_args(arguments)
    options = Options(asked.quick, tuple(filter(None, asked.only.split(","))))
    names = NAMES if "all" in asked.names else [name for name in asked.names if name != "plot"]
    for name in names:
        outcome = import_module(f"benchmarks.{MODULES.get(name, name)}").run(options)
        report.show(outcome)
        if not options.only:
            print(f"written to {report.write(outcome, quick=options.quick)}")
    if {"all", "plot"} & set(asked.names):
        from benchmarks import plot

        plot.draw(quick=options.quick)


if __name__ == "__main__":
    main()
