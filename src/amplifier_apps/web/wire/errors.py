"""What becomes of errors: a status, a code and a sentence."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from amplifier_apps.web.callers import Caller
from amplifier_apps.web.wire.approval_answers import ConflictAnswer, ErrorAnswer
from amplifier_apps.web.wire.encoding import answer, hide_nonce
from amplifier_foundation.stores.errors import (
    BadRequest,
    Conflict,
    NotAllowed,
    NotFound,
    StoreError,
    StoreUnavailable,
    TooMany,
)
from amplifier_foundation.stores.values.access import READ

logger = logging.getLogger(__name__)

_STATUS: dict[type[StoreError], tuple[int, str]] = {
    BadRequest: (400, "bad_request"),
    NotAllowed: (403, "not_allowed"),
    NotFound: (404, "not_found"),
    Conflict: (409, "conflict"),
    TooMany: (429, "too_many"),
    StoreUnavailable: (503, "unavailable"),
}
_CODES = {401: "credential", 403: "not_allowed", 404: "not_found", 405: "method"}

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
    body: dict[str, Any] = {"error": {"code": code, "message": str(error)}}
    if isinstance(error, Conflict) and error.approval is not None:
        body["approval"] = error.approval
    return status, body


def add_error_handlers(app: FastAPI) -> None:
    """Give every error the same shape."""
    app.add_exception_handler(StoreError, _answer_store_error)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http_error)
    app.add_exception_handler(Exception, _answer_failure)


async def _answer_store_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, StoreError)
    status, body = describe_error(error)
    caller = request.scope.get("state", {}).get("caller")
    if "approval" in body and not (isinstance(caller, Caller) and caller.may(READ)):
        body["approval"] = hide_nonce(body["approval"])
    return answer(body, status)


async def _answer_invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = [
        f"{'.'.join(map(str, one['loc'][1:])) or one['loc'][0]}: {one['msg']}"
        for one in error.errors()[:5]
    ]
    return answer({"error": {"code": "invalid", "message": "; ".join(found)[:2000]}}, 422)


async def _answer_http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "error")
    found = answer({"error": {"code": code, "message": str(error.detail)}}, error.status_code)
    found.headers.update(error.headers or {})
    return found


async def _answer_failure(request: Request, error: Exception) -> Response:
    logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
    message = "The server failed; its log says why."
    return answer({"error": {"code": "failure", "message": message}}, 500)
