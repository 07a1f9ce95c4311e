"""Building indexes of up to 500,000 chunks, each in a process of its own: time and peak memory.

`python -m benchmarks.speed.scale NUMBER` is that process.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks import places, texts
from benchmarks.report import Goal, Report
from benchmarks.timing import measure

if TYPE_CHECKING:
    from benchmarks.options import Options

SIZES = (100_000, 200_000, 500_000)
QUICK_SIZES = (2_000, 4_000)
PEAK = 3.0  # GB
TOLERANCE = 1.25


def run(options: Options) -> Report:
    """Build each size in a fresh process, reading the chunks from a file as it goes."""
    sizes = QUICK_SIZES if options.quick else SIZES
    figures = {f"{size} chunks": _child(size) for size in sizes} if options.wants("firstlight") else {}
    goals = []
    if figures:
        first, last = (figures[f"{size} chunks"] for size in (sizes[0], sizes[-1]))
        growth = (last["median_s"] / first["median_s"]) / (sizes[-1] / sizes[0])
        goals = [
            Goal(f"peak memory of building {sizes[-1]} chunks, GB", last["peak_gb"], PEAK),
            Goal(f"time of {sizes[-1]} chunks by that of {sizes[0]}, by their number", growth, TOLERANCE),
        ]
    setup = {
        "firstlight": "segments in batches of 8 MB, merged by plan; the reading of the chunks is included"
    }
    return Report("speed.scale", setup, figures, goals)


def _child(size: int) -> dict[str, float]:
    texts.prepare(size)
    command = [sys.executable, "-m", "benchmarks.speed.scale", str(size)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=places.ROOT)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def _measure(size: int) -> dict[str, float]:
    from benchmarks.engines.ours import Firstlight
    from firstlight.lexical.types import Indexable

    engine = Firstlight()
    before = _peak()
    taken = measure(lambda: engine.build_as_a_sync(Indexable(text) for text in texts.stream(size)))
    start = perf_counter()
    engine.search("the first question after building", 10)
    return {
        "median_s": round(taken.clock, 3),
        "processor_median_s": round(taken.processor, 3),
        "first_question_s": round(perf_counter() - start, 4),
        "peak_gb": round(_peak(), 3),
        "peak_before_gb": round(before, 3),
    }


def _peak() -> float:
    """Return the peak of this program's memory, in GB."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux counts the parent's memory in the child's ru_maxrss, but not in VmHWM
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024 / 1e9
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


if __name__ == "__main__":
    print(json.dumps(_measure(int(sys.argv[1]))))
