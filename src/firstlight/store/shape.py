"""What hangs on our tables: a file from anywhere may have triggers that act on whatever we write."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from firstlight.store.fts5 import STATEMENTS as FTS5
from firstlight.store.schema import STATEMENTS, NotOursError

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

_NAME = re.compile(r"CREATE (?:UNIQUE )?(?:TABLE|INDEX|TRIGGER) (\w+)")


def check_shape(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file whose tables, or whose indexes and triggers on them, are not the ones that we made.

    Raises:
        NotOursError: One is missing, or another.
    """
    due, may_be = _made_by_us()
    found = connection.execute(
        "SELECT CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB) FROM sqlite_master "
        "WHERE sql IS NOT NULL AND type != 'view'"
    )
    made = {_text(name): _text(sql) for name, table, sql in found if _text(table) in due}
    wrong = [name for name, sql in made.items() if sql != (due | may_be).get(name)]
    if wrong or not due.keys() <= made.keys():
        what = f"'{wrong[0]:.60}' is not as firstlight makes it" if wrong else "tables are missing"
        raise NotOursError(
            f"{path}: damaged, or made by somebody else ({what}); `firstlight sync --rebuild` makes it anew "
            "from the files"
        )


def _text(data: bytes) -> str:
    return data.decode(errors="backslashreplace")


@cache
def _made_by_us() -> tuple[dict[str, str], dict[str, str]]:
    """Return the statements that made what has to be there, and what may be, by name."""
    return _named(STATEMENTS), _named(FTS5)


def _named(statements: tuple[str, ...]) -> dict[str, str]:
    found = ((_NAME.match(statement), statement) for statement in statements)
    return {match[1]: statement for match, statement in found if match}
