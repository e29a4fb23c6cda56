"""Under which addresses a server answers."""

from __future__ import annotations

from amplifier_hooks.http_guard import bracket, list_own_hosts
from amplifier_hooks.server.settings import ServerSettings


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
