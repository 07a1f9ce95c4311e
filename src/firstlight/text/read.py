"""From a name below a root to bytes, and from bytes to text: what is refused, and why."""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from firstlight.errors import DocumentError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["MAX_BYTES", "FileContent", "decode", "modified_ns", "read_file"]

# Some 5 million words: books, specifications and exports fit; logs and dumps, which would fill an index
# with what nobody asks for, do not. It also bounds what one hostile file can cost in memory.
MAX_BYTES = 32 * 1024 * 1024

_MOST_NS = 2**63 - 1

# Longest first: the UTF-16 mark is how the UTF-32 one begins.
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BOM = "\ufeff"
# Codecs of Python's own that no file is written in; they warn, or undo escapes.
_NO_CHARSETS = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
_DECLARE = 'if it is text in another encoding, declare it, for example encoding = "{}"'
# Never wait for a FIFO's other end, never become a terminal's owner, never leak into a child.
_FILE_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_FOLDER_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of one file, their sha256, and the stat of the very handle they came from."""

    path: str
    data: bytes
    digest: bytes
    size: int
    mtime_ns: int


def decode(data: bytes, *, encoding: str | None = None) -> str:
    r"""Return the text of `data`, byte order marks at its start excluded.

    Without `encoding`, a byte order mark decides, else it is UTF-8. Text never holds NULs or surrogates, so
    it can always be encoded again.

    Raises:
        DocumentError: The bytes are not text in that encoding; the reason names the offset and the line.

    Example:
        >>> decode(b"\xef\xbb\xbfna\xc3\xafve")
        'naïve'
        >>> decode(b"na\xefve", encoding="latin-1")
        'naïve'
    """
    codec = (
        _charset(encoding)
        if encoding
        else next((name for mark, name in _BOMS if data.startswith(mark)), "utf-8")
    )
    if codec == "utf-8" and (nul := data.find(0)) >= 0:
        raise _nul_error(data, nul)
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        raise _undecodable(data, codec, error.start) from None
    except (LookupError, UnicodeError) as error:  # "base64" is a codec, but not of text
        raise DocumentError(f'encoding = "{codec}" does not fit: {error}; try "utf-8" or "cp1252"') from None
    if encoding is not None:
        _check_text(text, codec)
    elif codec != "utf-8" and (nul := text.find("\0")) >= 0:
        raise _nul_in_text(text, nul, codec)
    return text.lstrip(_BOM) if text.startswith(_BOM) else text


def modified_ns(status: os.stat_result) -> int:
    """Return when a file was modified, within what 64 bits hold: file systems know the year 2500 too."""
    return min(max(status.st_mtime_ns, -_MOST_NS), _MOST_NS)


def read_file(root: str | Path, path: str, *, max_bytes: int = MAX_BYTES) -> FileContent:
    """Return the content of the regular file `path`, which must lie below `root` once links are followed.

    Raises:
        DocumentError: It is missing, unreadable, no regular file, too large, outside the root, or does not
            hold still; `error.path` is `path`.
    """
    try:
        for _ in range(2):  # a second try: editors save in an instant
            content = _read_once(str(root), path, max_bytes)
            if content is not None:
                return content
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror or error}", path=path) from None
    except ValueError:  # a NUL in the name, or a name that the file system's encoding cannot hold
        raise DocumentError("cannot be read: no file can have this name", path=path) from None
    raise DocumentError("changed while it was being read: sync again once it holds still", path=path)


def _read_once(root: str, path: str, max_bytes: int) -> FileContent | None:
    """Read the file, or return None if it did not hold still."""
    with open(_open_below(root, path), "rb") as handle:
        before = os.fstat(handle.fileno())
        if not stat.S_ISREG(before.st_mode):
            raise DocumentError("is not a regular file", path=path)
        if before.st_size > max_bytes:
            raise DocumentError(_too_large(before.st_size, max_bytes), path=path)
        data = handle.read(before.st_size + 1)  # one more, to notice that it grew
        after = os.fstat(handle.fileno())
    if len(data) != after.st_size or _version(before) != _version(after):
        return None
    return FileContent(path, data, hashlib.sha256(data).digest(), after.st_size, modified_ns(after))


def _open_below(root: str, path: str) -> int:
    """Open `path` below `root`; where a link is on the way, what it leads to, if that is inside too."""
    parts = path.split("/")
    if not {"", ".", ".."}.intersection(parts):
        try:
            return _open_without_links(root, parts, path)
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                raise
    top = os.path.realpath(root)
    real = os.path.realpath(f"{top}/{path}", strict=True)
    inside = top.rstrip("/") + "/"
    if not real.startswith(inside):
        raise DocumentError("leads out of the folder; only files inside it are read", path=path)
    return _open_without_links(top, real.removeprefix(inside).split("/"), path)


def _open_without_links(root: str, parts: list[str], path: str) -> int:
    """Open a file component by component: nobody can slip in a link between a check and the opening."""
    *folders, name = parts
    folder = os.open(root, _FOLDER_FLAGS)
    try:
        for part in folders:
            inner = os.open(part, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        mode = os.lstat(name, dir_fd=folder).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):  # opening a device can have effects
            raise DocumentError("is not a regular file", path=path)
        return os.open(name, _FILE_FLAGS | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)


def _version(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def _too_large(size: int, max_bytes: int) -> str:
    return f"is {size:,} bytes, over the cap of {max_bytes:,}: split it, or raise max_bytes"


def _line_of(data: bytes, offset: int) -> int:
    head = data[:offset]
    return head.count(b"\n") + head.count(b"\r") - head.count(b"\r\n") + 1


def _undecodable(data: bytes, codec: str, offset: int) -> DocumentError:
    byte = f" (0x{data[offset]:02x})" if offset < len(data) else ""
    reason = f"byte {offset}{byte} is not {codec.upper()}: {_DECLARE.format('cp1252')}"
    return DocumentError(reason, line=_line_of(data, offset) if codec == "utf-8" else None)


def _nul_error(data: bytes, offset: int) -> DocumentError:
    for parity, guess in ((0, "utf-16-be"), (1, "utf-16-le")):
        high, low = data[parity:256:2], data[1 - parity : 256 : 2]
        if 0 not in low and high.count(0) * 4 >= len(high) * 3:  # mostly Latin text
            reason = f"byte {offset} is NUL, as in UTF-16 without a byte order mark: {_DECLARE.format(guess)}"
            return DocumentError(reason, line=1)
    reason = f"byte {offset} is NUL, so this is not text: remove it; {_DECLARE.format('utf-16')}"
    return DocumentError(reason, line=_line_of(data, offset))


def _nul_in_text(text: str, offset: int, codec: str) -> DocumentError:
    line = _line_of(text[:offset].encode("utf-8", "surrogatepass"), len(text) * 4)
    return DocumentError(f"character {offset} is NUL, so this is not text in {codec}", line=line)


def _charset(name: str) -> str:
    """Return a declared encoding, if it is one that files are written in."""
    try:
        known = codecs.lookup(name).name.replace("_", "-") not in _NO_CHARSETS
    except (LookupError, ValueError):
        known = False
    if known:
        return name
    raise DocumentError(f'encoding = "{name}" is no text encoding that is known: try "utf-8" or "cp1252"')


def _check_text(text: str, codec: str) -> None:
    """Refuse what only a declared codec can yield: NULs in a byte charset, surrogates from escapes."""
    if (nul := text.find("\0")) >= 0:
        raise _nul_in_text(text, nul, codec)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        reason = f"character {error.start} is half of a surrogate pair: {codec} is not this file's encoding"
        raise DocumentError(reason) from None
