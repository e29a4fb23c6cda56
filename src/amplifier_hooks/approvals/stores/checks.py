"""Checks before anything is kept: values, requests, places in lists, names of people."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from typing import Any

from amplifier_core.approval import read_option
from amplifier_hooks.approvals.encoding import to_kept_json
from amplifier_hooks.approvals.errors import BadRequest
from amplifier_hooks.approvals.models import ApprovalRequest, Option

NAME = 400
"""Characters of a name."""
PATH = 4096


def read_name(field: str, value: Any, *, may_be_empty: bool = False, most: int = NAME) -> str:
    """A short text that identifies something; it must be kept as it is, or not at all."""
    if not isinstance(value, str):
        raise BadRequest(f"The {field} is text, not {type(value).__name__}")
    if not value and not may_be_empty:
        raise BadRequest(f"The {field} is empty")
    if len(value) > most:
        raise BadRequest(f"The {field} has {len(value)} characters; at most {most} are kept")
    if value != clean_text(value, most):
        raise BadRequest(f"The {field} has a NUL character or half of a surrogate pair")
    return value


def read_seconds(field: str, value: Any, most: float) -> float:
    """A length of time above zero."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
        raise BadRequest(f"The {field} is {value!r}; use seconds above 0 and up to {most:g}")
    if not math.isfinite(value):
        raise BadRequest(f"The {field} is {value!r}; use a finite number of seconds")
    return float(value)


def write_json(field: str, value: Any, most: int) -> str:
    """The value as JSON text within a limit."""
    try:
        text = to_kept_json(value)
    except ValueError as error:
        raise BadRequest(f"The {field} cannot be kept as JSON: {error}") from error
    if len(text) > most:
        raise BadRequest(f"The {field} takes {len(text)} bytes as JSON; at most {most} are kept")
    return text


def clean_text(text: str, most: int) -> str:
    """A text for people to read: cut to its limit, without what a database cannot keep."""
    if text.isascii() and "\0" not in text:
        return text[:most]
    kept = text[:most].replace("\0", "\N{REPLACEMENT CHARACTER}")
    return "".join("\N{REPLACEMENT CHARACTER}" if "\ud800" <= c <= "\udfff" else c for c in kept)


PROMPT = 64 * 1024
OPTIONS = 16
LABEL = 200
INPUT = 1024 * 1024
PREVIEW = 1024 * 1024
COMMENT = 4 * 1024
LONGEST = 30 * 24 * 3600.0
PERSONS = 16

_NAMES = ("key", "session_id", "hook", "digest")
_MAY_BE_EMPTY = ("event", "tool_name", "tool_call_id", "requester", "machine")


def refuse_bad_request(request: ApprovalRequest) -> None:
    """Raise BadRequest for what cannot be asked."""
    for field in _NAMES + _MAY_BE_EMPTY:
        read_name(field, getattr(request, field), may_be_empty=field in _MAY_BE_EMPTY)
    read_name("working_dir", request.working_dir, may_be_empty=True, most=PATH)
    _refuse_long("prompt", request.prompt, PROMPT)
    _refuse_long("reason", request.reason, PROMPT)
    _refuse_long("preview", request.preview, PREVIEW)
    if len(request.notes) > OPTIONS:
        raise BadRequest(f"There are {len(request.notes)} notes; at most {OPTIONS} are kept")
    for note in request.notes:
        _refuse_long("note", note, PROMPT)
    read_seconds("timeout", request.timeout, LONGEST)
    _refuse_bad_options(request.options)
    _refuse_bad_requirement(request)


def _refuse_bad_options(options: tuple[Option, ...]) -> None:
    if not 1 <= len(options) <= OPTIONS:
        raise BadRequest(f"There are {len(options)} options; give 1 to {OPTIONS}")
    for option in options:
        if not 1 <= len(option.label) <= LABEL:
            raise BadRequest(f"An option's label has 1 to {LABEL} characters, not {option.label!r}")
    if len({option.id for option in options}) < len(options):
        raise BadRequest("Two options have the same number")
    for option in options:
        _refuse_other_meaning(option)


def _refuse_other_meaning(option: Option) -> None:
    """People choose by the label, so an option cannot mean what its label does not say."""
    meaning = read_option(option.label)
    if (option.allows, option.remembered) != (meaning.allows, meaning.remembered):
        allows = "allows" if meaning.allows else "does not allow"
        remembered = "is remembered" if meaning.remembered else "is not remembered"
        raise BadRequest(f"The option {option.label!r} {allows} and {remembered}: its words say so")


def _refuse_bad_requirement(request: ApprovalRequest) -> None:
    persons = request.requirement.persons
    if not 1 <= persons <= PERSONS:
        raise BadRequest(f"It can be 1 to {PERSONS} people who must allow it, not {persons!r}")
    read_name("scope", request.requirement.scope, may_be_empty=True)


def _refuse_long(field: str, value: str, most: int) -> None:
    if len(value) > most:
        raise BadRequest(f"The {field} has {len(value)} characters; at most {most} are kept")


MOST_ON_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Position:
    """The last entry of a page."""

    at: float
    id: str

    def __str__(self) -> str:
        return f"{self.at!r}/{self.id}"


def read_position(text: str) -> Position | None:
    """The `next` of the page before; None at the beginning."""
    if not text:
        return None
    at, slash, id = text.partition("/")
    try:
        position = Position(float(at), id)
    except ValueError:
        position = Position(math.nan, "")
    if not slash or not math.isfinite(position.at) or "\0" in id:
        raise BadRequest(f"{text[:80]!r} is no place in a list; use the `next` of a page")
    return position


def read_limit(limit: int) -> int:
    """How many entries a page may have."""
    if type(limit) is not int or not 1 <= limit <= MOST_ON_PAGE:
        raise BadRequest(f"A page has 1 to {MOST_ON_PAGE} entries, not {limit!r}")
    return limit


def identify_person(name: str) -> str:
    """The same text for all spellings of one name."""
    return unicodedata.normalize("NFKC", name).casefold().strip()
