"""The walk itself: folders, links and ignore rules, as one stack and one lean loop."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from firstlight.text.entries import FileEntry, Skipped
from firstlight.text.gitignore import Rules, parse_rules
from firstlight.text.read import modified_ns

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["VENDOR_FOLDERS", "Finder"]

# Folders that package managers fill with other people's READMEs. Build folders (`build`, `dist`, `target`)
# are not here: people do write `docs/build/`, and what tools put there is ignored by git or tagged as a
# cache.
VENDOR_FOLDERS = frozenset(
    {"node_modules", "bower_components", "vendor", "venv", "site-packages", "__pycache__"}
)
# A file that says what its folder is: https://bford.info/cachedir/ and PEP 405.
_MARKERS = {"CACHEDIR.TAG": "a cache folder (CACHEDIR.TAG)", "pyvenv.cfg": "a virtual environment"}
_GITIGNORE = ".gitignore"
# Larger than any real one; a hostile one must not take seconds to compile.
_GITIGNORE_MAX_BYTES = 256 * 1024


# The rules in force in a folder, innermost first. A rule file judges `lead + path[cut:]`: `cut` takes away
# the name of its own folder, `lead` adds the root's below it, for the rules of a repository around the root.
_Chain = tuple[tuple[int, str, Rules], ...]


@dataclass(slots=True)
class Finder:
    """One walk of the folder `top`, a real path; a prefix is a path below it with its slash, or `""`."""

    top: str
    wanted: frozenset[str]
    max_bytes: int
    exclude: Rules | None
    files: list[FileEntry] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    errors: list[Skipped] = field(default_factory=list)
    other: dict[str, int] = field(default_factory=dict)
    links: list[tuple[str, _Chain]] = field(default_factory=list)
    entered: dict[str, str] = field(default_factory=dict)  # real path of a folder -> its prefix

    def run(self) -> None:
        """Walk what has a name of its own, then follow links: to folders first, which may hold more."""
        self._enter("", self.top, _rules_around(self.top))
        to_files: list[tuple[str, str, _Chain]] = []
        while self.links:
            links, self.links = sorted(self.links, key=lambda link: link[0]), []
            for path, chain in links:
                real = self._resolve(path)
                if real is not None and os.path.isdir(real):  # noqa: PTH112 - paths are strings here
                    self._follow_to_folder(path, real, chain)
                elif real is not None:
                    to_files.append((path, real, chain))
        found = {entry.path for entry in self.files} if to_files else set()
        for path, real, chain in sorted(to_files, key=lambda link: link[0]):
            self._follow_to_file(path, real, chain, found)

    def _enter(self, prefix: str, real: str, chain: _Chain) -> None:
        """Walk a folder and all below it; a stack, because depth is the folder's choice."""
        stack = [(prefix, real, chain)]
        while stack:
            prefix, real, chain = stack.pop()
            if real in self.entered:
                continue
            try:
                with os.scandir(real) as scan:
                    entries = list(scan)
            except OSError as error:
                self._unreadable(prefix[:-1] or ".", error)
                continue
            names = {entry.name for entry in entries}
            if prefix and (marker := self._marker(prefix[:-1], names)):
                self.skipped.append(Skipped(prefix[:-1], marker))
                continue
            self.entered[real] = prefix
            if _GITIGNORE in names:
                chain = self._with_rules(prefix, real, chain)
            stack += self._sort_out(prefix, real, entries, chain)

    def _sort_out(
        self, prefix: str, real: str, entries: list[os.DirEntry[str]], chain: _Chain
    ) -> Iterator[tuple[str, str, _Chain]]:
        """Record the files of one folder and yield the folders to enter: the hot loop."""
        wanted, other = self.wanted, self.other
        lenient = not chain and self.exclude is None
        for entry in entries:
            name = entry.name
            dot = name.rfind(".")
            extension = name[dot:].lower() if dot > 0 else ""
            if entry.is_symlink():
                self.links.append((prefix + name, chain))
            elif entry.is_dir(follow_symlinks=False):
                if self._keeps(prefix + name, name, chain, folder=True):
                    yield f"{prefix}{name}/", f"{real}/{name}", chain
            elif extension not in wanted:
                if name[0] != ".":
                    other[extension] = other.get(extension, 0) + 1
            elif (lenient and dot and name[0] != "." and name.isascii()) or self._keeps(
                prefix + name, name, chain
            ):
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError as error:
                    self._unreadable(prefix + name, error)
                else:
                    self._record(prefix + name, status)

    def _record(self, path: str, status: os.stat_result) -> bool:
        regular = stat.S_ISREG(status.st_mode)
        if regular and status.st_size <= self.max_bytes:
            self.files.append(FileEntry(path, status.st_size, modified_ns(status)))
            return True
        over = f"{status.st_size:,} bytes, over the cap of {self.max_bytes:,} (max_bytes)"
        self.skipped.append(Skipped(path, over if regular else "not a regular file"))
        return False

    def _keeps(self, path: str, name: str, chain: _Chain, *, folder: bool = False) -> bool:
        """Tell whether the rules let `path` in, and record why where they do not."""
        reason = self._objection(path, name, chain, folder=folder)
        if reason is not None:
            self.skipped.append(Skipped(_printable(path), reason))
        return reason is None

    def _objection(self, path: str, name: str, chain: _Chain, *, folder: bool) -> str | None:
        if not name.isascii() and _printable(name) != name:
            return "its name is not UTF-8: rename it"
        if self.exclude is not None and (verdict := self.exclude.decide(path, folder=folder)) is not None:
            return "excluded by the configuration" if verdict else None
        if name[0] == ".":
            return "hidden"
        if folder and name in VENDOR_FOLDERS:
            return f"a vendor folder (exclude = ['!{name}/'] takes it in)"
        for cut, lead, rules in chain:
            verdict = rules.decide(lead + path[cut:], folder=folder)
            if verdict is not None:
                return f"ignored by {_GITIGNORE}" if verdict else None
        return None

    def _marker(self, path: str, names: set[str]) -> str | None:
        reason = next((reason for name, reason in _MARKERS.items() if name in names), None)
        if reason is None or (self.exclude is not None and self.exclude.decide(path, folder=True) is False):
            return None
        return reason

    def _with_rules(self, prefix: str, real: str, chain: _Chain) -> _Chain:
        try:
            rules = _read_rules(f"{real}/{_GITIGNORE}")
        except OSError as error:
            self._unreadable(prefix + _GITIGNORE, error)
            return chain
        return chain if rules is None else ((len(prefix), "", rules), *chain)

    def _resolve(self, path: str) -> str | None:
        """Return where a link leads, if that is inside the root; else record why not."""
        try:
            real = os.path.realpath(f"{self.top}/{path}", strict=True)
        except OSError as error:
            if error.errno == errno.ELOOP:
                self._skip_link(path, "a link that leads in a circle")
            elif error.errno in (errno.ENOENT, errno.ENOTDIR):
                self._skip_link(path, "a link to nothing")
            else:
                self._unreadable(path, error)
            return None
        if not f"{real}/".startswith(self.top.rstrip("/") + "/"):
            self._skip_link(path, "a link out of the folder")
            return None
        return real

    def _follow_to_folder(self, path: str, real: str, chain: _Chain) -> None:
        if real in self.entered:
            self._skip_link(path, f"a link to {self.entered[real] or './'}, which is read there")
        elif self._keeps(path, path.rpartition("/")[2], chain, folder=True):
            self._enter(f"{path}/", real, chain)

    def _follow_to_file(self, path: str, real: str, chain: _Chain, found: set[str]) -> None:
        name = path.rpartition("/")[2]
        extension = os.path.splitext(name)[1].lower()  # noqa: PTH122
        if extension not in self.wanted:
            self.other[extension] = self.other.get(extension, 0) + 1
            return
        folder, _, target = real.rpartition("/")
        own = f"{self.entered[folder]}{target}" if folder in self.entered else real
        if own in found:
            self._skip_link(path, f"a link to {_printable(own)}, which is read there")
        elif self._keeps(path, name, chain):
            try:
                status = os.stat(real)  # noqa: PTH116
            except OSError as error:
                self._unreadable(path, error)
            else:
                if self._record(path, status):
                    found.add(own)

    def _skip_link(self, path: str, reason: str) -> None:
        """Record a link that is not followed, if its name could have been a document's or a folder's."""
        extension = os.path.splitext(path)[1].lower()  # noqa: PTH122
        if not extension or extension in self.wanted:
            self.skipped.append(Skipped(_printable(path), reason))

    def _unreadable(self, path: str, error: OSError) -> None:
        if isinstance(error, FileNotFoundError) and path != ".":
            return  # deleted since its folder was listed
        self.errors.append(Skipped(_printable(path), f"cannot be read: {error.strerror}"))


def _printable(path: str) -> str:
    """Return `path` with the bytes that are not UTF-8 spelt out."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _read_rules(path: str) -> Rules | None:
    """Read one ignore file; git does not follow a link to one either."""
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode):
        return None
    if status.st_size > _GITIGNORE_MAX_BYTES:
        raise OSError(errno.EFBIG, f"larger than {_GITIGNORE_MAX_BYTES:,} bytes")
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="\n") as lines:  # noqa: PTH123
        return parse_rules(lines)


def _rules_around(top: str) -> _Chain:
    """Return the rules above the root, up to the folder with `.git`; none where there is no such folder."""
    chain: list[tuple[int, str, Rules]] = []
    folder, lead = top, ""
    while not os.path.lexists(f"{folder}/.git"):
        parent, _, name = folder.rpartition("/")
        if not name:
            return ()  # no repository: rules above the root are somebody else's
        folder, lead = parent, f"{name}/{lead}"
        try:
            rules = _read_rules(f"{folder}/{_GITIGNORE}")
        except OSError:
            continue
        if rules is not None:
            chain.append((0, lead, rules))
    return tuple(chain)
