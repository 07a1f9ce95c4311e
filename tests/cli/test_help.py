from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest

from firstlight.cli.app import app

if TYPE_CHECKING:
    from .conftest import Run

COMMANDS = app.list_commands(click.Context(app))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_line_an_example_and_help_for_each_option(name: str, run: Run) -> None:
    outcome = run(name, "--help")
    assert outcome.code == 0
    assert f"firstlight {name} " in outcome.out.split("Example", 1)[-1]
    command = app.get_command(click.Context(app), name)
    assert command is not None
    assert not command.get_short_help_str().endswith("...")
    for option in command.params:
        assert isinstance(option, click.Argument) or getattr(option, "help", None)


def test_the_overview_names_every_command_and_the_exit_codes(run: Run) -> None:
    outcome = run("--help")
    assert all(f"\n  {name} " in outcome.out for name in COMMANDS)
    assert "130 interrupted" in outcome.out


@pytest.mark.parametrize("name", ["search", "sync", "status", "verify", "lint", "eval", "migrate"])
def test_what_reports_can_report_in_json(name: str) -> None:
    command = app.get_command(click.Context(app), name)
    assert command is not None
    assert "as_json" in {option.name for option in command.params}
