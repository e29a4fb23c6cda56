"""The scope of a standing rule: in words before a person grants it, and as a test afterwards."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from amplifier_hooks.approvals.models import Approval, ApprovalRequest, OfferedScope, StandingRule
from amplifier_hooks.approvals.stores.checks import PROMPT, clean_text
from amplifier_hooks.guards.policy.paths import resolve
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS, find_path

EXACT = "exact"
BELOW = "below:"
TOO_WIDE = (
    "made by an earlier version for every question of its hook; it now answers only “{}”. "
    "Revoke it, and keep a new rule when you are asked next"
)
_FILE = "‹file›"
_SHOWN = 200


def describe_scopes(approval: Approval) -> list[OfferedScope]:
    """The scopes that a person can choose for a rule; none where a rule would weaken a gate."""
    request = approval.request
    if request.default == "allow" or request.requirement.persons > 1:
        return []
    if not any(option.allows for option in request.options):
        return []
    what = f"{request.tool_name} with exactly this input" if request.tool_name else "exactly this"
    place = _describe_place(request)
    offered = [OfferedScope(id=EXACT, words=f"Allow {what}, {place}")]
    offered += [
        OfferedScope(
            id=f"{BELOW}{folder}",
            words=f"Allow {request.tool_name} to change any file below {folder}, {place}",
        )
        for folder in _list_folders(request)
    ]
    return offered


def name_question(request: ApprovalRequest) -> str:
    """Which question a request puts: its prompt, without the file that an edit is about.

    One hook asks about many things, as `hooks-rules` does with every rule that asks; a person who
    answered one of its questions has not read the others. Only the path of an edit is left out, so
    that a rule for a folder fits a prompt that names the file. Of other parts of an input nothing
    is: an agent could write its own question into them.
    """
    prompt = clean_text(request.prompt, PROMPT)
    path = find_path(request.tool_input)
    if request.tool_name not in EDITING_TOOLS or not path:
        return prompt
    question = prompt
    for name in _list_spellings(path, request.working_dir):
        if name not in question:  # compiling a pattern takes far longer than looking
            continue
        whole = rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)"
        question = re.sub(whole, lambda _: _FILE, question)
    says_something = any(one.isalpha() for one in question.replace(_FILE, ""))
    return question if says_something else prompt


def _list_spellings(path: str, folder: str) -> list[str]:
    """A path as it may be written in a prompt, the longest first."""
    found = {path, posixpath.normpath(path)}
    if folder:
        whole = posixpath.normpath(posixpath.join(folder, path))
        found |= {whole, posixpath.relpath(whole, folder)}
    return sorted((one for one in found if one), key=len, reverse=True)


def _describe_place(request: ApprovalRequest) -> str:
    question = " ".join(name_question(request).split())
    if len(question) > _SHOWN:
        question = f"{question[:_SHOWN]}…"
    words = f"when hook {request.hook} asks “{question}”"
    if request.requester:
        words += f" for {request.requester}"
    if request.working_dir:
        words += f", in sessions that work in {request.working_dir}"
    if request.machine:
        words += f" on {request.machine}"
    return words


def _list_folders(request: ApprovalRequest) -> list[str]:
    """The folder of the file that is edited, and the working directory if it is further up."""
    path = find_path(request.tool_input)
    if request.tool_name not in EDITING_TOOLS or not path or not request.working_dir:
        return []
    file = posixpath.normpath(posixpath.join(request.working_dir, path))
    folder = posixpath.dirname(file)
    base = posixpath.normpath(request.working_dir)
    found = [folder]
    if base != folder and Path(folder).is_relative_to(base):
        found.append(base)
    return [one for one in found if posixpath.isabs(one) and one.strip("/") and "\0" not in one]


def _answers(rule: StandingRule, request: ApprovalRequest) -> bool:
    """Whether a rule was made for this question."""
    if rule.question:
        return rule.question == name_question(request)
    return rule.prompt == clean_text(request.prompt, PROMPT)


def covers(rule: StandingRule, request: ApprovalRequest) -> bool:
    """Whether a rule answers the question of a request, and its scope covers it.

    For a folder this looks at the file system, so it says what is true on this machine: an agent
    that asks a server elsewhere must ask here again, where the files are.
    """
    if not _answers(rule, request):
        return False
    if rule.scope == EXACT:
        return rule.digest == request.digest
    if not rule.scope.startswith(BELOW) or request.tool_name not in EDITING_TOOLS:
        return False
    path = find_path(request.tool_input)
    folder = Path(rule.scope.removeprefix(BELOW))
    if not path or not request.working_dir:
        return False
    try:
        base = Path(request.working_dir)
        # A folder that has become a link leads where nobody has allowed anything.
        return resolve(folder, base) == folder and resolve(path, base).is_relative_to(folder)
    except ValueError:
        return False


def describe_width(rule: StandingRule) -> str:
    """What is wrong with a rule that was made for more than one question; else empty."""
    return "" if rule.question else TOO_WIDE.format(" ".join(rule.prompt.split())[:_SHOWN])
