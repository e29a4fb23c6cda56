"""Under which addresses a server answers."""

from __future__ import annotations

from amplifier_apps.web.settings import ServerSettings
from amplifier_foundation.machine.http import is_loopback

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def list_hosts(settings: ServerSettings) -> frozenset[str]:
    """Every value that the `Host` header may have."""
    names = _LOOPBACK if is_loopback(settings.host) else (bracket(settings.host),)
    own = {spelling for name in names for spelling in _spell(name, settings)}
    return frozenset(own | set(settings.allowed_hosts))


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
    host = _spell(bracket(settings.host), settings)[-1]
    scheme = "http" if settings.tls_cert is None else "https"
    return f"{scheme}://{host}"


def bracket(host: str) -> str:
    """A host as it stands in an address: IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _scheme(settings: ServerSettings) -> str:
    return "https" if settings.uses_tls else "http"


def _spell(name: str, settings: ServerSettings) -> tuple[str, ...]:
    """With its port, and without it where a browser leaves it out; that one is last."""
    default = 80 if settings.tls_cert is None else 443
    full = f"{name}:{settings.port}"
    return (full, name) if settings.port == default else (full,)
