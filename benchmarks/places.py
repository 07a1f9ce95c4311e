"""Where the benchmarks find their data and leave what they make."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
SCRATCH = Path(
    os.environ.get("FIRSTLIGHT_BENCH", ROOT / ".bench")
)  # made texts, peers' rankings, quick results


def data() -> Path:
    """Return the folder of real corpora (`FIRSTLIGHT_DATA`), or stop saying what is missing."""
    folder = Path(os.environ.get("FIRSTLIGHT_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        raise SystemExit(f"the benchmarks need the data pack; it is not at {folder}: set FIRSTLIGHT_DATA")
    return folder


def scratch(*parts: str) -> Path:
    """Return a folder below the scratch folder, made where it does not exist."""
    folder = SCRATCH.joinpath(*parts)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
