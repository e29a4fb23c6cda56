"""How each client writes its servers."""

from __future__ import annotations

from collections.abc import Mapping

from amplifier_hooks.mcp.gateway.clients.address import LOGIN
from amplifier_hooks.mcp.gateway.clients.codex_bridge import CodexBridge
from amplifier_hooks.mcp.gateway.clients.entry import Dialect
from amplifier_hooks.mcp.gateway.clients.json_bridge import JsonBridge

_HELPER = "a program of its own makes its headers, which the gateway cannot run for the client"
_SANDBOX = "it runs in a sandbox of the client, in which the gateway could record nothing"
_EXTENSION = "it has settings of an extension, which may steer the gateway"
_REMOTE = "it runs on another machine than the client"
# Codex hands on to its servers only some variables, and those that are named.
_NEEDED = (
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME"),
    *("AMPLIFIER_SERVER", "AMPLIFIER_STORE", "AMPLIFIER_TOKEN_FILE"),
)

DIALECTS: Mapping[str, Dialect] = {
    "claude": Dialect(JsonBridge(), hindrances={"oauth": LOGIN, "headersHelper": _HELPER}),
    "codex": Dialect(
        CodexBridge(),
        _NEEDED,
        {
            **dict.fromkeys(("oauth", "auth", "oauth_client_id", "oauth_resource"), LOGIN),
            **dict.fromkeys(("scopes",), LOGIN),
            "http_headers_helper": _HELPER,
            "experimental_environment": _REMOTE,
        },
        switch="enabled",
    ),
    "cursor": Dialect(JsonBridge(("url", "serverUrl")), hindrances={"auth": LOGIN, "oauth": LOGIN}),
    "vscode": Dialect(
        JsonBridge(), hindrances={"oauth": LOGIN, "auth": LOGIN, "sandboxEnabled": _SANDBOX}
    ),
    "gemini": Dialect(
        JsonBridge(("httpUrl", "url"), names_type=False),
        hindrances={"oauth": LOGIN, "authProviderType": LOGIN, "extension": _EXTENSION},
    ),
}
