"""What a standing rule may cover: in words before a person grants it, and as a test afterwards."""

from __future__ import annotations

import posixpath
from pathlib import Path

from amplifier_foundation.policy.editing_tools import EDITING_TOOLS, find_path
from amplifier_foundation.policy.paths import resolve
from amplifier_foundation.stores.values.approval import Approval, ApprovalRequest
from amplifier_foundation.stores.values.rule import OfferedScope, StandingRule

EXACT = "exact"
BELOW = "below:"


def describe_scopes(approval: Approval) -> list[OfferedScope]:
    """The scopes that a person can choose for a rule; none where a rule would weaken a gate."""
    request = approval.request
    if request.default == "allow" or request.requirement.persons > 1:
        return []
    if not any(option.allows for option in request.options):
        return []
    what = f"{request.tool_name} with exactly this input" if request.tool_name else "exactly this"
    offered = [OfferedScope(EXACT, f"Allow {what}, {_describe_place(request)}")]
    offered += [
        OfferedScope(
            f"{BELOW}{folder}",
            f"Allow {request.tool_name} to change any file below {folder}, "
            f"{_describe_place(request)}",
        )
        for folder in _list_folders(request)
    ]
    return offered


def _describe_place(request: ApprovalRequest) -> str:
    words = f"when hook {request.hook} asks"
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
    folder, base = posixpath.dirname(file), posixpath.normpath(request.working_dir)
    found = [folder]
    if base != folder and Path(folder).is_relative_to(base):
        found.append(base)
    return [one for one in found if posixpath.isabs(one) and one.strip("/") and "\0" not in one]


def covers(rule: StandingRule, request: ApprovalRequest) -> bool:
    """Whether a rule covers a request, as far as its scope goes.

    For a folder this looks at the file system, so it says what is true on this machine: an agent
    that asks a server elsewhere must ask here again, where the files are.
    """
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
