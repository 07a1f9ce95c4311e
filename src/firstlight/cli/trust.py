"""`firstlight trust`: let a folder's own settings name endpoints, providers and stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from firstlight.cli.options import folder
from firstlight.cli.terminal import printable, show

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command("trust")
@folder
@click.option("--revoke", is_flag=True, help="Take the trust back.")
def command(*, folder: Path, revoke: bool) -> int:
    """Trust the settings of DIR as they are now.

    Until then what DIR/firstlight.toml says about endpoints, providers, stores and alerts has no effect: a
    folder that you cloned cannot send your documents anywhere. A changed file needs trust again.

    \b
    Examples:
      firstlight trust docs
      firstlight trust docs --revoke
    """  # noqa: D301  # click reads \b as "do not wrap"
    from firstlight.corpus.trust import revoke as take_back
    from firstlight.corpus.trust import trust

    root = (take_back if revoke else trust)(folder)
    show(printable(f"{'no longer trusted' if revoke else 'trusted'}: {root}"))
    return 0
