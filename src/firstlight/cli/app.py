"""The table of commands, and the process's edge: what leaves a command becomes a line and an exit code."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from firstlight.cli.terminal import talk
from firstlight.errors import FirstlightError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["COMPLETE", "app", "run"]

COMPLETE = "_FIRSTLIGHT_COMPLETE"
_COMMANDS = {
    "search": "firstlight.cli.search",
    "digest": "firstlight.cli.digest",
    "sync": "firstlight.cli.sync",
    "status": "firstlight.cli.status",
    "verify": "firstlight.cli.verify",
    "lint": "firstlight.cli.lint",
    "eval": "firstlight.cli.eval",
    "migrate": "firstlight.cli.migrate",
    "background": "firstlight.cli.background",
    "cache": "firstlight.cli.cache",
    "trust": "firstlight.cli.trust",
    "completion": "firstlight.cli.completion",
}


class LazyGroup(click.Group):
    """A group whose commands are modules, each imported when it is asked for; each has a `command`."""

    def __init__(self, *, modules: Mapping[str, str], **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names, in the order of the table: the one that people come for first."""
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module."""
        if cmd_name not in self.modules:
            if not ctx.resilient_parsing:
                _refuse(cmd_name, self.modules, ctx)
            return None
        from importlib import import_module

        command = import_module(self.modules[cmd_name]).command
        assert isinstance(command, click.Command)  # noqa: S101
        return command


def _refuse(name: str, known: Iterable[str], ctx: click.Context) -> NoReturn:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    raise click.UsageError(f"no such command: {name}; {meant}", ctx)


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from firstlight._version import __version__

    click.echo(f"firstlight {__version__}")
    ctx.exit()


app = LazyGroup(
    name="firstlight",
    modules=_COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Search a folder of documents: one command from nothing to the answer.\n\n"
    "\b\nExample:\n  firstlight search docs 'how do I drain a node?'\n\n"
    "\b\nExit codes:\n  0 done or found; 1 nothing found, or findings; 2 an error; 130 interrupted",
    params=[
        click.Option(
            ["-V", "--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_version,
            help="Show the version and exit.",
        )
    ],
)


def run(args: list[str]) -> int:
    """Run the command that `args` name; errors are told on stderr."""
    try:
        code = _dispatch(args)
        sys.stdout.flush()
    except click.Abort as error:
        raise KeyboardInterrupt from error
    except click.ClickException as error:
        return _usage_error(error)
    except BrokenPipeError:
        return _reader_left()
    except FirstlightError as error:
        talk(f"error: {error}")
        return 2
    except OSError as error:
        talk(f"error: {f'{error.filename}: ' if error.filename else ''}{error.strerror or error}")
        return 2
    except Exception as error:  # the process's edge: a bug is reported, not spilled
        if os.environ.get("FIRSTLIGHT_DEBUG"):
            raise
        talk(f"error: a bug in firstlight: {type(error).__name__}: {error}")
        talk("FIRSTLIGHT_DEBUG=1 shows where; please report it")
        return 2
    return code


def _dispatch(args: list[str]) -> int:
    if os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(app, {}, "firstlight", COMPLETE, os.environ[COMPLETE])
    try:
        with app.make_context("firstlight", list(args)) as context:
            return app.invoke(context) or 0
    except click.exceptions.Exit as done:
        return done.exit_code


def _usage_error(error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        talk(error.format_message().replace("Usage:", "usage:", 1))
        return 2
    talk(f"error: {error.format_message()}")
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        talk(context.get_usage().replace("Usage:", "usage:", 1))
        talk(f"help:  {context.command_path} --help")
    return 2


def _reader_left() -> int:
    """End as a program does whose reader left (`| head`): quietly, with the code of SIGPIPE."""
    # Python flushes both streams once more as it exits: give them a place that takes anything.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    return 141
