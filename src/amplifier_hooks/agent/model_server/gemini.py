"""The protocol of Google's Gemini API, seen from the server.

The model and the way of answering stand in the address: `models/M:streamGenerateContent`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from amplifier_core.message_models import Usage
from amplifier_hooks.agent.model_server.exchange import (
    Exchange,
    Object,
    format_event,
    read_object,
    read_objects,
    read_text,
    read_text_since,
)
from amplifier_hooks.agent.providers.scripted import Failure, ScriptedCall, split_words

PATH = "/v1beta/models/MODEL:streamGenerateContent"

_ADDRESS = re.compile(r"/v1(?:alpha|beta)?/models/([^/:]+):(generateContent|streamGenerateContent)")
_ROLES = frozenset((None, "user", "model", "function"))

_ERRORS = {
    "rate_limit": (429, "RESOURCE_EXHAUSTED"),
    "overloaded": (503, "UNAVAILABLE"),
    "server_error": (500, "INTERNAL"),
    "authentication": (401, "UNAUTHENTICATED"),
    "access_denied": (403, "PERMISSION_DENIED"),
    "not_found": (404, "NOT_FOUND"),
    "invalid_request": (400, "INVALID_ARGUMENT"),
    "context_length": (400, "INVALID_ARGUMENT"),
    "content_filter": (400, "INVALID_ARGUMENT"),
}


def read_address(path: str) -> Object | None:
    """What the address says: the model, and whether to stream; None if it is another protocol's."""
    found = _ADDRESS.fullmatch(path)
    if found is None:
        return None
    return {"model": found[1], "stream": found[2] == "streamGenerateContent"}


def write_error(failure: Failure) -> tuple[int, Object]:
    """The status and the body of an error."""
    code, status = _ERRORS[failure.type]
    error: Object = {"code": code, "message": failure.sentence, "status": status}
    if failure.retry_after is not None:
        kind = "type.googleapis.com/google.rpc.RetryInfo"
        error["details"] = [{"@type": kind, "retryDelay": f"{failure.retry_after:g}s"}]
    return code, {"error": error}


def write_error_event(failure: Failure) -> bytes:
    """The event for an error in the middle of a stream."""
    return format_event(write_error(failure)[1])


def find_problem(body: Object) -> str | None:
    """What the real server would object to in this request; None if nothing."""
    contents = read_objects(body, "contents")
    read_object(body, "generationConfig")
    if not contents:
        return "GenerateContentRequest.contents: contents is not specified"
    problems = map(_check_content, contents, [*contents[1:], {}])
    return next((problem for problem in problems if problem), None)


def _check_content(content: Object, following: Object) -> str | None:
    role = read_text(content, "role")
    if role not in _ROLES:
        return f"Please use a valid role: user, model; not {role!r}"
    if not read_objects(content, "parts"):
        return "GenerateContentRequest.contents.parts: must not be empty"
    called = _read_names(content, "functionCall")
    answered = _read_names(following, "functionResponse")
    if sorted(called) != sorted(answered):
        return (
            "Please ensure that the function response parts match the function call parts of the "
            f"turn before: {called} were called and {answered} answered"
        )
    return None


def _read_names(content: Object, kind: str) -> list[str]:
    parts = [part for part in read_objects(content, "parts") if part.get(kind) is not None]
    return [read_text(read_object(part, kind), "name") or "" for part in parts]


def read_last_words(body: Object) -> str:
    """What was said to the model since its last reply, and what the tools answered."""
    contents = [_gather_text(content) for content in read_objects(body, "contents")]
    return read_text_since(contents, _is_of_model)


def _gather_text(content: Object) -> Object:
    """The content with its text where the other protocols have it."""
    texts = [_read_part(part) for part in read_objects(content, "parts")]
    return {"role": content.get("role"), "content": "".join(texts)}


def _read_part(part: Object) -> str:
    answer = read_object(part, "functionResponse").get("response")
    return read_text(part, "text") or ("" if answer is None else _write_json(answer))


def _write_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def count_replies(body: Object) -> int:
    """The number of replies so far; consecutive contents of the model are one reply."""
    written = [_is_of_model(content) for content in read_objects(body, "contents")]
    return sum(now and not before for before, now in zip([False, *written], written, strict=False))


def _is_of_model(content: Object) -> bool:
    return content.get("role") == "model"


def write_reply(exchange: Exchange) -> Object:
    """The reply as one response."""
    return _wrap(exchange, list(_write_parts(exchange, whole=True)), _get_reason(exchange))


def write_events(exchange: Exchange) -> Iterator[bytes]:
    """The reply as one response for each piece; the last one says why it ended."""
    for part in _write_parts(exchange, whole=False):
        yield format_event(_wrap(exchange, [part]))
    yield format_event(_wrap(exchange, [{"text": ""}], _get_reason(exchange)))


def _wrap(exchange: Exchange, parts: list[Object], reason: str | None = None) -> Object:
    candidate: Object = {"content": {"role": "model", "parts": parts}, "index": 0}
    if reason is not None:
        candidate["finishReason"] = reason
    return {
        "candidates": [candidate],
        "usageMetadata": _write_usage(exchange.usage),
        "modelVersion": exchange.model,
        "responseId": f"response-{exchange.number}",
    }


def _write_usage(usage: Usage) -> Object:
    return {
        "promptTokenCount": usage.input_tokens,
        "candidatesTokenCount": usage.output_tokens,
        "thoughtsTokenCount": usage.reasoning_tokens or 0,
        "cachedContentTokenCount": usage.cache_read_tokens or 0,
        "totalTokenCount": usage.total_tokens,
    }


def _get_reason(exchange: Exchange) -> str:
    readable = all(_read_arguments(call) is not None for call in exchange.reply.tool_calls)
    return exchange.reply.finish_reason or ("STOP" if readable else "MALFORMED_FUNCTION_CALL")


def _write_parts(exchange: Exchange, *, whole: bool) -> Iterator[Object]:
    reply = exchange.reply
    for thought in _split(reply.thinking or "", whole):
        yield {"text": thought, "thought": True}
    yield from ({"text": word} for word in _split(_write_text(exchange), whole))
    for call_id, call in exchange.number_calls("call"):
        arguments = _read_arguments(call)
        if arguments is not None:
            yield {"functionCall": {"id": call_id, "name": call.name, "args": arguments}}


def _split(text: str, whole: bool) -> list[str]:
    return [text] if text and whole else split_words(text)


def _write_text(exchange: Exchange) -> str:
    """The text; as JSON if the request wants JSON and the script has only words."""
    text = exchange.reply.text
    wanted = read_object(exchange.body, "generationConfig").get("responseMimeType")
    if wanted != "application/json" or not text:
        return text
    try:
        json.loads(text)
    except ValueError:
        return _write_json(text)
    return text


def _read_arguments(call: ScriptedCall) -> Object | None:
    """Arguments as an object; None if they are none, which this API never passes on."""
    if call.arguments is None:
        return call.input
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        return None
    return arguments if isinstance(arguments, dict) else None
