"""Answers as JSON, and what becomes of errors: a status, a code and a sentence."""

from __future__ import annotations

import json
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from amplifier_hooks.approvals.encoding import to_plain
from amplifier_hooks.approvals.errors import (
    BadRequest,
    Conflict,
    NotAllowed,
    NotFound,
    StoreError,
    StoreUnavailable,
    TooMany,
)
from amplifier_hooks.approvals.models import READ, Approval
from amplifier_hooks.approvals.stores.scopes import describe_scopes
from amplifier_hooks.http_guard import Refusal
from amplifier_hooks.server.answers import ConflictAnswer, ErrorAnswer
from amplifier_hooks.server.callers import Caller
from amplifier_hooks.server.logs import make_error, note_problem


def encode(value: Any) -> str:
    """JSON text; what UTF-8 cannot hold is escaped."""
    text = json.dumps(
        value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_to_plain
    )
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(json.loads(text), allow_nan=False, separators=(",", ":"))
    return text


def _to_plain(value: Any) -> Any:
    return describe_approval(value) if isinstance(value, Approval) else to_plain(value)


def describe_approval(approval: Approval) -> dict[str, Any]:
    """An approval for clients; while it is pending, with the scopes that a person may choose."""
    described = approval.model_dump()
    if approval.status == "pending":
        described["scopes"] = [scope.model_dump() for scope in describe_scopes(approval)]
    return described


def describe_for_agent(approval: Approval) -> dict[str, Any]:
    """An approval for who asked: without what a decision must name, and what it could keep."""
    return {**approval.model_dump(), "nonce": ""}


def answer(value: Any, status: int = 200) -> Response:
    """A JSON answer."""
    return Response(encode(value), status, media_type="application/json")


_STATUS: dict[type[StoreError], tuple[int, str]] = {
    BadRequest: (400, "bad_request"),
    NotAllowed: (403, "not_allowed"),
    NotFound: (404, "not_found"),
    Conflict: (409, "conflict"),
    TooMany: (429, "too_many"),
    StoreUnavailable: (503, "unavailable"),
}
_RETRY_SECONDS = 2
_CODES = {401: "credential", 403: "not_allowed", 404: "not_found", 405: "method", 422: "invalid"}

ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorAnswer, "description": "Not JSON, or it makes no sense."},
    401: {"model": ErrorAnswer, "description": "No valid credential."},
    403: {"model": ErrorAnswer, "description": "The credential is not enough for this."},
    404: {"model": ErrorAnswer, "description": "There is no such thing."},
    405: {"model": ErrorAnswer, "description": "Not with this method."},
    408: {"model": ErrorAnswer, "description": "The body did not arrive in time."},
    409: {"model": ConflictAnswer, "description": "Somebody was first, or time was."},
    413: {"model": ErrorAnswer, "description": "The body is too large."},
    415: {"model": ErrorAnswer, "description": "The body is not declared as JSON."},
    422: {"model": ErrorAnswer, "description": "A field is missing, unknown or wrong."},
    429: {"model": ErrorAnswer, "description": "A limit is reached."},
    503: {"model": ErrorAnswer, "description": "The store does not answer."},
}


def describe_error(error: StoreError) -> tuple[int, dict[str, Any]]:
    """The status and the body for an error of the store."""
    status, code = next(
        (_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), (503, "unavailable")
    )
    body: dict[str, Any] = {"error": make_error(code, str(error))}
    if isinstance(error, Conflict) and error.approval is not None:
        body["approval"] = error.approval
    return status, body


def add_error_handlers(app: FastAPI) -> None:
    """Give every error the same shape."""
    app.add_exception_handler(StoreError, _answer_store_error)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http_error)
    app.add_exception_handler(Refusal, _answer_refusal)


async def _answer_store_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, StoreError)
    status, body = describe_error(error)
    caller = request.scope.get("state", {}).get("caller")
    if "approval" in body and not (isinstance(caller, Caller) and caller.may(READ)):
        body["approval"] = describe_for_agent(body["approval"])
    note_problem(request.scope, status, body["error"]["code"], str(error))
    found = answer(body, status)
    if status == 503:
        found.headers["retry-after"] = str(_RETRY_SECONDS)
    return found


async def _answer_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = [
        f"{'.'.join(map(str, one['loc'][1:])) or one['loc'][0]}: {one['msg']}"
        for one in error.errors()[:5]
    ]
    note_problem(request.scope, 422, "invalid", "")
    return answer({"error": make_error("invalid", "; ".join(found)[:2000])}, 422)


async def _answer_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    note_problem(request.scope, error.status, error.code, error.message)
    found = answer({"error": make_error(error.code, error.message)}, error.status)
    if error.retry_after:
        found.headers["retry-after"] = str(error.retry_after)
    return found


async def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "error")
    note_problem(request.scope, error.status_code, code, str(error.detail))
    found = answer({"error": make_error(code, str(error.detail))}, error.status_code)
    found.headers.update(error.headers or {})
    return found
