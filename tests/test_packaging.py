"""The wheel is what people get: it is built, installed and used, away from the source."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def run(*command: object, **options: str) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [*map(str, command)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment | options,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built with the build tool that the tests bring."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", folder, ROOT)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_has_the_package_its_types_and_its_licence_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    sources = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == sources
    assert "firstlight/py.typed" in names
    assert "firstlight/embed/data/bert-base-uncased-vocab.txt" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert any(name.endswith("licenses/NOTICE") for name in names)
    assert {name.split("/")[0].split("-")[0] for name in names} == {"firstlight"}


def test_the_installed_wheel_searches(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        wheel,
    )
    # What it depends on is taken from this environment; CI's `make demo` installs it from the registry.
    (site,) = (home / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "drain.md").write_text("# Drain a node\n\nCordon it first.\n")
    firstlight = home / "bin" / "firstlight"
    state = {"FIRSTLIGHT_STATE": str(tmp_path / "state"), "FIRSTLIGHT_CONFIG": str(tmp_path / "config.toml")}
    assert run(firstlight, "--version") == f"firstlight {wheel.name.split('-')[1]}\n"
    assert "drain.md:3" in run(firstlight, "search", docs, "cordon", **state)
    where = run(python, "-c", "import firstlight; print(firstlight.__file__)")
    assert where.startswith(str(home))


def test_everything_imported_is_declared() -> None:
    imported = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.split(".")[0])
    foreign = imported - sys.stdlib_module_names - {"firstlight", "_typeshed"}
    distributions = packages_distributions()
    needed = {distributions[name][0].lower().replace("_", "-") for name in foreign}
    extras = (line for extra in PROJECT["optional-dependencies"].values() for line in extra)
    declared = {re.split(r"[^\w.-]", line)[0].lower() for line in (*PROJECT["dependencies"], *extras)}
    assert needed <= declared
    assert declared <= needed, "declared, but never imported"


def test_what_is_declared_is_pinned() -> None:
    pins = dict(
        line.lower().split("==")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if line and not line.startswith("#")
    )
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"].values()
    wanted = [
        *PROJECT["dependencies"],
        *(line for extra in PROJECT["optional-dependencies"].values() for line in extra),
        *(line for group in groups for line in group if isinstance(line, str)),
    ]
    names = {re.split(r"[^\w.-]", line)[0].lower().replace("-", "_") for line in wanted}
    assert names <= {name.replace("-", "_") for name in pins}
    assert all(re.fullmatch(r"[\w.]+", version) for version in pins.values()), "no addresses, no local builds"
