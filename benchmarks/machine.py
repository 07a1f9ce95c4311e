"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import sqlite3
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("bm25s", "matplotlib", "numpy", "pyromark", "PyStemmer", "tantivy")


def describe() -> dict[str, str | int | float]:
    """Return the processor, its cores, the memory, and the versions of everything that takes part.

    The load is that at the end: a benchmark alone makes 1 to 2.
    """
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "system": f"{platform.system()} {platform.release()}",
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        **{name: package_version(name) for name in PACKAGES},
    }


def package_version(name: str) -> str:
    """Return the installed version of a distribution, or that it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = (
        [line for line in info.read_text().splitlines() if line.startswith("model name")]
        if info.exists()
        else []
    )
    return names[0].partition(":")[2].strip() if names else platform.processor() or platform.machine()
