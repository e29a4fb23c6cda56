"""The description of the API: names that generated clients can use, credentials, and examples.

FastAPI writes it from the routes. What it cannot know is put in here: which errors a route can
really give, how one gets in, and what a body looks like.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI

SCHEMES: dict[str, Any] = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "A token of `amplifier tokens add`, or of the file of `amplifier judge`.",
    },
    "login": {
        "type": "apiKey",
        "in": "cookie",
        "name": "amplifier_login",
        "description": "What `POST /login` sets, for browsers.",
    },
    "csrf": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Amplifier-CSRF",
        "description": "With a login: the value that the answer to `POST /login` had.",
    },
}
_TOKEN_ONLY: list[dict[str, list[str]]] = [{"token": []}]
_ANY = [*_TOKEN_ONLY, {"login": [], "csrf": []}]
_PUBLIC = frozenset({"get_health", "get_readiness", "log_in"})
_OF_BODIES = ("408", "413", "415")
_CONFLICTING = frozenset(
    {
        "claim_call",
        "create_session",
        "decide_approval",
        "end_session",
        "finish_claim",
        "get_judgement",
        "judge_event",
        "open_judged_session",
        "prompt_session",
        "put_head",
        "renew_claim",
        "renew_judged_session",
        "request_approval",
    }
)
"""Operations that somebody else, time, or an earlier request of one's own can be in the way of."""

EXAMPLES: dict[str, dict[str, Any]] = {
    "open_judged_session": {"a session": {"key": "0b9d53c1", "program": "my-agent"}},
    "judge_event": {
        "before a call": {
            "event": "call",
            "id": "c1",
            "tool": "Bash",
            "input": {"command": "git status"},
        },
        "after it": {"event": "result", "id": "r1", "call": "c1", "output": "clean"},
        "a prompt": {"event": "prompt", "id": "p1", "text": "Fix the parser"},
    },
    "end_judged_session": {"all went well": {"reason": "complete"}},
    "renew_judged_session": {"still there": {}},
    "decide_approval": {
        "allow": {"option": 1, "nonce": "XwJl_l7V-SCk7-UPY5qE1g", "key": "4be1"},
    },
    "add_token": {"of a program": {"name": "shop-bot", "scopes": ["judge"]}},
    "log_in": {"a code": {"code": "ABCD-EFGH-JKMN"}},
    "create_session": {"with its first turn": {"prompt": "explain what this project does"}},
    "prompt_session": {"the next turn": {"prompt": "and the tests?"}},
}


def complete_description(app: FastAPI) -> None:
    """Have the app describe itself completely."""
    write = app.openapi

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _complete(write())
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]


def _complete(described: dict[str, Any]) -> dict[str, Any]:
    described.setdefault("components", {})["securitySchemes"] = SCHEMES
    described["security"] = _ANY
    for path, method, operation in list_operations(described):
        generated = re.sub(r"\W", "_", path) + f"_{method}"
        name = str(operation["operationId"]).removesuffix(generated)
        operation["operationId"] = name
        if name in _PUBLIC:
            operation["security"] = []
        elif path.startswith("/api/v1/judge/"):
            operation["security"] = _TOKEN_ONLY
        for status in list(operation["responses"]):
            if not _can_give(status, name, path, operation):
                del operation["responses"][status]
        if name in EXAMPLES:
            content = operation["requestBody"]["content"]["application/json"]
            content["examples"] = {
                label: {"value": value} for label, value in EXAMPLES[name].items()
            }
    return described


def list_operations(described: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each path and method with what is described of it."""
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def _can_give(status: str, name: str, path: str, operation: dict[str, Any]) -> bool:
    if status in _OF_BODIES:
        return "requestBody" in operation
    if status == "404":
        return "{" in path
    if status == "409":
        return name in _CONFLICTING
    if status == "422":
        return name not in ("get_health", "get_readiness")
    if status in ("401", "403"):
        return name not in _PUBLIC or (name, status) == ("log_in", "401")
    return status != "405"  # what is described is there with this method
