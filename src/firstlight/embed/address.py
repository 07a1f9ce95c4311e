"""Where a provider is, and whether a key may travel there."""

from __future__ import annotations

from urllib.parse import urlsplit

from firstlight.errors import ConfigError


def check_access(base_url: str, key: str | None, *, proxy: str | None = None) -> None:
    """Raise a ConfigError where an address is none, or a key would travel where anybody can read it.

    Example:
        >>> check_access("http://127.0.0.1:11434", "sk-secret")
        >>> check_access("http://models.example.com", "sk-secret")
        Traceback (most recent call last):
        ...
        firstlight.errors.ConfigError: base_url: a key does not travel over plain http: ...
    """
    problem = _problem_of(base_url)
    if problem:
        raise ConfigError(f"{problem}: say http(s)://HOST[:PORT][/PATH]", key="base_url")
    if key is None:
        return
    if not (key.isascii() and key.isprintable()) or not key or " " in key:
        raise ConfigError(
            "the key is empty or holds spaces or characters that no key has: set it anew", key="key"
        )
    plain = base_url.lower().startswith("http:")
    if plain and (proxy is not None or not _is_local(base_url)):
        raise ConfigError(
            "a key does not travel over plain http: use https, a server on this machine, or no key",
            key="base_url",
        )


def _problem_of(url: str) -> str:
    """Return what is wrong with an address, or nothing; it may hold a secret itself, and is not shown."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "it is no address"
    if parts.scheme not in ("http", "https") or not parts.hostname or not url.isprintable() or " " in url:
        return "it is no address"
    if "@" in parts.netloc:
        return "it holds a name or password, which belong into the key"
    return "it has a query or fragment" if parts.query or parts.fragment else ""


def _is_local(url: str) -> bool:
    from ipaddress import ip_address  # noqa: PLC0415  # only where a key goes over http

    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
