"""`firstlight completion`: what a shell needs to complete commands, options and folders."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(*, shell: str) -> int:
    """Print the completion script for SHELL.

    \b
    Examples:
      firstlight completion bash > ~/.local/share/bash-completion/completions/firstlight
      firstlight completion zsh > ~/.zfunc/_firstlight       # a folder of $fpath
      firstlight completion fish > ~/.config/fish/completions/firstlight.fish
    """  # noqa: D301  # click reads \b as "do not wrap"
    from click.shell_completion import get_completion_class

    from firstlight.cli.app import COMPLETE, app

    completion = get_completion_class(shell)
    assert completion is not None  # noqa: S101  # the three names above are click's own
    click.echo(completion(app, {}, "firstlight", COMPLETE).source(), nl=False)
    return 0
