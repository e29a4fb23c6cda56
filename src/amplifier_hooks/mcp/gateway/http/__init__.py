"""The ends of a relay over streamable HTTP: a server elsewhere, and clients that connect to us."""

from amplifier_hooks.mcp.gateway.http.incoming.hub import Serve
from amplifier_hooks.mcp.gateway.http.incoming.listening import listen
from amplifier_hooks.mcp.gateway.http.incoming.settings import ListenSettings, parse_address
from amplifier_hooks.mcp.gateway.http.outgoing.server import HttpServer

__all__ = ["HttpServer", "ListenSettings", "Serve", "listen", "parse_address"]
