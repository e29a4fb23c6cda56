"""Settings of a server: its address, and what it accepts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from amplifier_core.errors import AmplifierError
from amplifier_hooks.http_guard import bracket, list_own_hosts
from amplifier_hooks.machine.http import is_loopback

PORT = 8411
MAX_SOCKETS = 10_000
_HOST = re.compile(r"([a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_WILDCARDS = frozenset({"", "0.0.0.0", "::"})


class ServeError(AmplifierError):
    """The server cannot be started like this; the message says what would do."""


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """What judges events of programs, and where."""

    bundle: Path | None = None
    """By default, the bundle of the folder."""
    folder: Path = field(default_factory=Path.cwd)
    deadline: float = 30.0
    """Seconds that hooks have for one event."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What `amplifier serve` was told."""

    host: str = "127.0.0.1"
    port: int = PORT
    tls_cert: Path | None = None
    tls_key: Path | None = None
    allowed_hosts: tuple[str, ...] = ()
    """Names, with a port unless it is the scheme's own, that a request may be addressed to."""
    allowed_origins: tuple[str, ...] = ()
    """Further addresses of our own page, where a proxy changes them; other pages stay outside."""
    behind_proxy: bool = False
    """A proxy on the way here ends TLS and adds `X-Forwarded-For`."""
    bundle: Path | None = None
    """The bundle of sessions that it runs; by default, the one of their folder."""
    folder: Path | None = None
    """Where they work; by default, where the server was started."""
    keep_days: int | None = None
    """After how many days ended sessions and approvals are removed; never, if it does not say."""
    max_sockets: int = MAX_SOCKETS
    """WebSockets and event streams that are open at the same time."""

    @property
    def uses_tls(self) -> bool:
        """Whether people reach it over TLS."""
        return self.tls_cert is not None or self.behind_proxy


def check_settings(settings: ServerSettings) -> None:
    """Raise ServeError unless it is safe to listen like this."""
    if (settings.tls_cert is None) != (settings.tls_key is None):
        raise ServeError("TLS needs both --tls-cert and --tls-key")
    for file in (settings.tls_cert, settings.tls_key):
        if file is not None and not file.is_file():
            raise ServeError(f"There is no file {file}")
    _check_names(settings)
    if is_loopback(settings.host):
        return
    if not settings.uses_tls:
        raise ServeError(
            f"{settings.host or 'Every interface'} can be reached from other machines: give "
            "--tls-cert and --tls-key, or --behind-proxy if a proxy in front of it does TLS"
        )
    if settings.host in _WILDCARDS and not settings.allowed_hosts:
        raise ServeError(
            "Say under which name people reach this server: --allow-host NAME or NAME:PORT"
        )


def _check_names(settings: ServerSettings) -> None:
    """They are compared to the letter: one that no browser sends would never match."""
    for host in settings.allowed_hosts:
        if not _HOST.fullmatch(host):
            raise ServeError(
                f"--allow-host {host!r} is no host; write NAME or NAME:PORT in small letters"
            )
    for origin in settings.allowed_origins:
        scheme, separator, host = origin.partition("://")
        if scheme not in ("http", "https") or not separator or not _HOST.fullmatch(host):
            raise ServeError(
                f"--allow-origin {origin!r} is no origin; write https://NAME or https://NAME:PORT "
                "in small letters, without a path"
            )


def list_hosts(settings: ServerSettings) -> frozenset[str]:
    """Every value that the `Host` header may have."""
    own = list_own_hosts(settings.host, settings.port, _default_port(settings))
    return own | set(settings.allowed_hosts)


def list_origins(settings: ServerSettings) -> frozenset[str]:
    """Every value that the `Origin` header may have."""
    own = {f"{_scheme(settings)}://{host}" for host in list_hosts(settings)}
    if settings.behind_proxy and settings.tls_cert is None:
        # A person on the machine itself may still come without the proxy.
        own |= {f"http://{host}" for host in list_hosts(settings) - set(settings.allowed_hosts)}
    return frozenset(own | set(settings.allowed_origins))


def name_address(settings: ServerSettings) -> str:
    """The address that people open."""
    if settings.allowed_hosts:
        return f"{_scheme(settings)}://{settings.allowed_hosts[0]}"
    host = bracket(settings.host)
    if settings.port != _default_port(settings):
        host = f"{host}:{settings.port}"
    scheme = "http" if settings.tls_cert is None else "https"
    return f"{scheme}://{host}"


def _scheme(settings: ServerSettings) -> str:
    return "https" if settings.uses_tls else "http"


def _default_port(settings: ServerSettings) -> int:
    """The port that a browser leaves out."""
    return 80 if settings.tls_cert is None else 443
