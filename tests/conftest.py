"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Real files and two shared cores: the deadline per example would only measure the machine.
settings.register_profile("firstlight", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# In CI the same examples every time: a failure there is one of the change, not of luck.
settings.register_profile("ci", settings.get_profile("firstlight"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "firstlight")

_DEFAULT_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(autouse=True)
def words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search by words alone unless a test names an embedder, and start nothing behind its back."""
    monkeypatch.setenv("FIRSTLIGHT_EMBEDDER", "none")
    monkeypatch.setenv("FIRSTLIGHT_BACKGROUND", "0")


@pytest.fixture(scope="session")
def data_pack() -> Path:
    """The folder of real corpora; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("FIRSTLIGHT_DATA", _DEFAULT_DATA))
    if not folder.is_dir():
        pytest.skip(f"the data pack is not at {folder}; set FIRSTLIGHT_DATA to run this test")
    return folder
