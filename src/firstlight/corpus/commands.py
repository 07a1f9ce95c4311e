"""The commands in messages: the floors that know what is wrong know of no folder to name."""

from __future__ import annotations

import re
import shlex
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.corpus.state import state_folder
from firstlight.errors import ConfigError, EmbeddingError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firstlight.corpus.site import Site

_COMMAND = re.compile(
    r"`firstlight (sync|status|verify|migrate|background stop)((?: --[a-z]+(?: [^-`\s][^`\s]*)?)*)`"
)


@contextmanager
def commands_told(site: Site) -> Iterator[None]:
    """Have errors name commands that can be pasted."""
    try:
        yield
    except (EmbeddingError, StoreError) as error:
        error.args = (pasteable(str(error), site),)
        raise
    except ConfigError as error:
        error.reason = pasteable(error.reason, site)
        raise


def pasteable(message: str, site: Site) -> str:
    """Return `message` with the folder, and a place of the index that no setting tells, in its commands."""
    where = f" {shlex.quote(site.root)}"
    if site.state != state_folder(site.root, site.config.state, base=Path(site.root)):
        where += f" --state {shlex.quote(str(site.state))}"
    return _COMMAND.sub(lambda command: f"`firstlight {command[1]}{where}{command[2]}`", message)
