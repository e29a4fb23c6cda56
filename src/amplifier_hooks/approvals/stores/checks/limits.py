"""How much a request or a decision may hold, and how it is refused beyond that."""

from __future__ import annotations

from typing import Any

from amplifier_core.approval import read_option
from amplifier_hooks.approvals.stores.checks.fields import PATH, read_name, read_seconds
from amplifier_hooks.approvals.stores.errors import BadRequest
from amplifier_hooks.approvals.stores.values.approval import ApprovalRequest, Option

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
    if request.default not in ("allow", "deny"):
        raise BadRequest(f"The default is {request.default!r}; use 'allow' or 'deny'")
    _refuse_bad_requirement(request)


def _refuse_bad_options(options: tuple[Option, ...]) -> None:
    if not 1 <= len(options) <= OPTIONS:
        raise BadRequest(f"There are {len(options)} options; give 1 to {OPTIONS}")
    for option in options:
        if not isinstance(option.label, str) or not 1 <= len(option.label) <= LABEL:
            raise BadRequest(f"An option's label has 1 to {LABEL} characters, not {option.label!r}")
        if type(option.id) is not int or type(option.allows) is not bool:
            raise BadRequest(f"The option {option.label!r} needs a number and whether it allows")
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
    if type(persons) is not int or not 1 <= persons <= PERSONS:
        raise BadRequest(f"It can be 1 to {PERSONS} people who must allow it, not {persons!r}")
    if type(request.requirement.requester_may_approve) is not bool:
        raise BadRequest("requester_may_approve is true or false")
    read_name("scope", request.requirement.scope, may_be_empty=True)


def _refuse_long(field: str, value: Any, most: int) -> None:
    if not isinstance(value, str):
        raise BadRequest(f"The {field} is text, not {type(value).__name__}")
    if len(value) > most:
        raise BadRequest(f"The {field} has {len(value)} characters; at most {most} are kept")
