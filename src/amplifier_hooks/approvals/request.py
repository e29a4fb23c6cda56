"""The request that an agent puts to people elsewhere, made of a hook's question."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplifier_core.approval import ApprovalQuestion, read_option
from amplifier_hooks.approvals.change import is_editable, write_preview
from amplifier_hooks.approvals.models import ApprovalRequest, Option, Requirement

MASKED = "Secrets are masked here. The call has them, and cannot be edited elsewhere."

NONE = "none"
"""Who asks where nobody says it, as applications do that ask by the short form."""

Scrub = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, from where, and who may allow it."""

    machine: str
    user: str
    folder: Path
    requirement: Requirement = field(default_factory=Requirement)


def write_request(
    question: ApprovalQuestion, asker: Asker, scrub: Scrub, *, call: str, seconds: float
) -> ApprovalRequest:
    """Everything that a person should see; it reads the file of an edit, so not on the loop.

    What is masked for the trail is masked for people elsewhere, who read it in another place.
    `call` names the call that would run; a question about anything else has none.
    """
    preview, notes = write_preview(question.tool_name or "", question.tool_input, asker.folder)
    shown = scrub(question.tool_input)
    masked = shown != question.tool_input
    return ApprovalRequest(
        key=make_key(question, call, 0),
        session_id=question.session_id or NONE,
        prompt=str(scrub(question.prompt)),
        options=tuple(read_options(question)),
        timeout=seconds,
        digest=question.digest or _hash(question.prompt),
        hook=question.hook or NONE,
        event=question.event,
        reason=str(scrub(question.reason or "")),
        tool_name=question.tool_name or "",
        tool_call_id=call,
        tool_input=shown,
        preview=str(scrub(preview)),
        notes=(*map(str, scrub(list(notes))), *([MASKED] if masked else [])),
        default=question.default,
        editable=not masked and _can_be_edited(question),
        requester=asker.user,
        machine=asker.machine,
        working_dir=str(asker.folder),
        requirement=asker.requirement,
    )


def read_options(question: ApprovalQuestion) -> list[Option]:
    """The options with what each means, which is fixed now and not by who reads its label."""
    meanings = [(label, read_option(label)) for label in question.options]
    return [
        Option(id=number, label=label, allows=one.allows, remembered=one.remembered)
        for number, (label, one) in enumerate(meanings)
    ]


def make_key(question: ApprovalQuestion, call: str, attempt: int) -> str:
    """What finds the same question again, after this process was killed.

    Without a call there is nothing that shows whether an answer was used, so each time is new.
    """
    about = (question.session_id, call, question.hook, question.prompt, question.digest)
    again = str(attempt) if call else uuid.uuid4().hex
    return _hash(json.dumps([*about, question.event, again]))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _can_be_edited(question: ApprovalQuestion) -> bool:
    """Whether the kernel takes an edit, and the input can travel there and back."""
    if not is_editable(question):
        return False
    try:
        json.dumps(question.tool_input, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return False
    return True
