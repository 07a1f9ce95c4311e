"""The arguments that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

__all__ = ["as_json", "assume_yes", "folder", "pasteable", "print_json", "state"]


class Folder(click.Path):
    """An existing folder; the error says what is there instead."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,  # noqa: ARG002
        ctx: click.Context | None,
    ) -> Any:
        """Return the folder as a `Path`, or fail with the way out."""
        path = Path(os.path.expanduser(os.fspath(value)))  # noqa: PTH111  # leaves an unknown ~user as it is
        if not os.fspath(value) or "\0" in os.fspath(value):
            raise click.UsageError("DIR has to name a folder; '.' is this one", ctx)
        if path.is_dir():
            return path
        if path.exists():
            raise click.UsageError(f"{path} is a file: name its folder, '{path.parent}'", ctx)
        raise click.UsageError(f"there is no folder '{path}'{_instead(path)} (here is {Path.cwd()})", ctx)


def _instead(path: Path) -> str:
    """Name the folder that was probably meant: one beside it with nearly that name."""
    from difflib import get_close_matches

    try:
        names = [entry.name for entry in os.scandir(path.parent) if entry.is_dir()]
    except OSError:
        return ""
    near = get_close_matches(path.name, names, n=1)
    return f"; did you mean '{path.with_name(near[0])}'?" if near else ""


folder = click.argument("folder", metavar="DIR", type=Folder())
state = click.option(
    "--state",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the index in this folder instead of the user's data folder.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON to stdout.")
assume_yes = click.option(
    "--yes", "assume_yes", is_flag=True, help="Index a folder of more than 20,000 files without asking."
)


def pasteable(folder: Path, state: Path | None) -> str:
    """Return DIR as a command takes it, with the place of its index where that was said.

    Example:
        >>> pasteable(Path("my docs"), None), pasteable(Path("docs"), Path("/tmp/index"))
        ("'my docs'", 'docs --state /tmp/index')
    """
    import shlex

    return shlex.quote(str(folder)) + (f" --state {shlex.quote(str(state))}" if state else "")


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object, in ASCII: no text of a document can act on a terminal."""
    import json
    import sys

    json.dump(value, sys.stdout, indent=2)
    sys.stdout.write("\n")
