"""Where things are: the user's own folders, and the names of the files that firstlight reads there."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

CONFIG_NAME = "firstlight.toml"
VECTOR_CACHE_NAME = "vectors.db"  # in the folder of all states: vectors serve every corpus
# No person's settings are larger; what a strange folder calls so may be anything.
_MOST_BYTES = 1 << 20


def user_config_file() -> Path:
    """Return the user's own configuration file; `FIRSTLIGHT_CONFIG` moves it."""
    moved = os.environ.get("FIRSTLIGHT_CONFIG")
    return Path(moved) if moved else _user_folder("XDG_CONFIG_HOME", ".config") / "config.toml"


def state_root() -> Path:
    """Return the folder that holds every corpus' state; `FIRSTLIGHT_STATE` moves it."""
    moved = os.environ.get("FIRSTLIGHT_STATE")
    return Path(moved) if moved else _user_folder("XDG_DATA_HOME", ".local/share")


def read_small(file: Path) -> bytes:
    """Return the bytes of a small regular file; never waits for a pipe's other end.

    Raises:
        OSError: It is missing, unreadable, no regular file or too large.
    """
    number = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    with open(number, "rb") as handle:  # noqa: PTH123  # a number, no path
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "not a regular file", str(file))
        data = handle.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise OSError(0, f"larger than {_MOST_BYTES:,} bytes", str(file))
    return data


def _user_folder(variable: str, default: str) -> Path:
    # On Linux this is all that platformdirs would do, and its import costs a tenth of a warm search.
    if sys.platform.startswith("linux"):
        base = os.environ.get(variable, "")
        return (Path(base) if base.startswith("/") else Path.home() / default) / "firstlight"
    import platformdirs  # noqa: PLC0415  # the slow import, where it is needed

    known = platformdirs.user_config_dir if variable == "XDG_CONFIG_HOME" else platformdirs.user_data_dir
    return Path(known("firstlight"))
