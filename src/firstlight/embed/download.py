"""Fetches one file over HTTPS: bounded, checked, and in place only when it is whole."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from firstlight.errors import ConfigError, EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import IO

    from httpx2 import Response

_MAX_REDIRECTS = 5
_TIMEOUT = 30.0  # seconds without a single byte
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
# What the hub says of a file that it keeps elsewhere.
_CLAIMS = frozenset({"x-linked-size", "x-linked-etag"})
_SHA256 = re.compile(r"[0-9a-f]{64}")


def download(url: str, target: Path, *, max_bytes: int) -> bool:
    """Put what is at `url` into the file `target`; return False where there is nothing.

    Redirects are followed to HTTPS, or within the host of `url`. The hub's own size and sha256 of the file
    are checked where it says them.

    Raises:
        ConfigError: The address may not be asked, or asks for a login.
        EmbeddingError: It cannot be had now (`unavailable`), or is too large or not what it should be
            (`refused`).
    """
    if not _is_safe(url, url):
        raise ConfigError(f"{_shown(url)}: models are fetched over https alone", key="HF_ENDPOINT")
    httpx2 = _httpx2()
    try:
        with _opened(httpx2, url) as (response, claims):
            if response is None:
                return False
            with _replacing(target) as file:
                digest, size = hashlib.sha256(), 0
                for block in response.iter_bytes(1 << 20):
                    size += len(block)
                    _check_size(url, size, max_bytes)
                    digest.update(block)
                    file.write(block)
                _check_claims(url, claims, size, digest.hexdigest())
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        reason = str(error) or type(error).__name__
        raise EmbeddingError(f"{_shown(url)} cannot be fetched: {reason}; it is tried again later") from error
    except OSError as error:
        raise ConfigError(f"{error.strerror}; models cannot be kept here", path=str(target.parent)) from error
    return True


@contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    """Give a file that takes the place of `target` when all went well, and vanishes otherwise."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def _opened(httpx2: ModuleType, url: str) -> Iterator[tuple[Response | None, dict[str, str]]]:
    """Follow redirects to the file; with it comes what was said of it on the way, by the first who did."""
    claims: dict[str, str] = {}
    at = url
    with httpx2.Client(timeout=_TIMEOUT, headers={"accept-encoding": "identity"}) as client:
        for _ in range(_MAX_REDIRECTS):
            with client.stream("GET", at) as response:
                claims = {name: value for name, value in response.headers.items() if name in _CLAIMS} | claims
                if not response.has_redirect_location:
                    yield _found(url, response), claims
                    return
                at = str(response.url.join(response.headers["location"]))
                if not _is_safe(at, url):
                    raise EmbeddingError(
                        f"{_shown(url)} leads to {_shown(at)}, another host that is not asked over https",
                        kind="refused",
                    )
    raise EmbeddingError(f"{_shown(url)} leads in a circle", kind="refused")


def _found(url: str, response: Response) -> Response | None:
    """Return the answer that has the file; None where there is no such file."""
    status = response.status_code
    if status == 404:
        return None
    if status in (401, 403):
        raise ConfigError(f"{_shown(url)} asks for a login: only public models are fetched", key="embedder")
    if status != 200:
        kept = status == 429 or status >= 500
        raise EmbeddingError(
            f"{_shown(url)} answers with status {status}{'; it is tried again later' if kept else ''}",
            kind="unavailable" if kept else "refused",
        )
    return response


def _check_size(url: str, size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise EmbeddingError(
            f"{_shown(url)} is larger than the {max_bytes:,} bytes that are taken", kind="refused"
        )


def _check_claims(url: str, claims: dict[str, str], size: int, digest: str) -> None:
    expected = claims.get("x-linked-size", str(size))
    sha256 = claims.get("x-linked-etag", "").removeprefix("W/").strip('"')
    if expected != str(size) or (_SHA256.fullmatch(sha256) and sha256 != digest):
        raise EmbeddingError(f"{_shown(url)} did not arrive as the hub has it; it is tried again later")


def _is_safe(url: str, first: str) -> bool:
    """Whether `url` may be asked, where `first` was what the user allowed."""
    try:
        here, there = urlsplit(url), urlsplit(first)
    except ValueError:
        return False
    if here.scheme == "https" and here.hostname:
        return True
    return here.scheme == "http" and here.hostname in _LOOPBACK and here.netloc == there.netloc


def _shown(url: str) -> str:
    """Return the address as it may be logged: without a login or a signature."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that cannot be read"
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"


def _httpx2() -> ModuleType:
    if find_spec("httpx2") is None:
        raise ConfigError("fetching a model needs an extra: pip install 'firstlight[http]'", key="embedder")
    import httpx2  # noqa: PLC0415  # an extra, loaded when first needed

    return httpx2
