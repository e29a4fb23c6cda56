"""The ends of a relay over streamable HTTP: a server elsewhere, and clients that connect to us."""

from amplifier_hooks.mcp.gateway.http.app import listen
from amplifier_hooks.mcp.gateway.http.clients import Serve
from amplifier_hooks.mcp.gateway.http.guard import ListenSettings, parse_address
from amplifier_hooks.mcp.gateway.http.server import HttpServer

__all__ = ["HttpServer", "ListenSettings", "Serve", "listen", "parse_address"]
