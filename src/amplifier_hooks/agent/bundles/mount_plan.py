"""Mount plans that are written in code, under the same rules as bundle files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from amplifier_core.mount_plan import EXAMPLES, MountPlan, list_ways
from amplifier_hooks.agent.bundles import schema
from amplifier_hooks.agent.bundles.bundle import Bundle, make_bundle
from amplifier_hooks.agent.bundles.long_form import write_out
from amplifier_hooks.yaml_files.node import (
    Node,
    Place,
    Problem,
    find_broken,
    make_node,
    raise_problems,
    to_plain,
)


def mount_plan_problems(plan: Mapping[str, Any], name: str = "mount plan") -> tuple[Problem, ...]:
    """Everything that is wrong with a mount plan written in code."""
    if not isinstance(plan, Mapping):
        return (Problem(Place(name), "", f"must be a mapping, got {type(plan).__name__}"),)
    document = _read(plan, name)
    return (*schema.find_problems(document, schema.Plan), *find_incomplete(document))


def validate_mount_plan(plan: Mapping[str, Any], name: str = "mount plan") -> None:
    """Raise a `BundleError` with every problem, each with its key and the nearest right one."""
    raise_problems(mount_plan_problems(plan, name))


def bundle_from_plan(plan: Mapping[str, Any], name: str = "mount plan") -> Bundle:
    """Make a bundle of a plan that is written in code; it is checked, and has no files."""
    validate_mount_plan(plan, name)
    return make_bundle(_read(_move_options(plan), name), (), (), frozenset(), None)


def find_incomplete(document: Node) -> Iterator[Problem]:
    """What is still missing from a document when all its layers are merged."""
    yield from find_broken(document)
    session = document.mapping().get("session") or Node({}, document.place)
    for key, example in EXAMPLES.items():
        if key not in session.mapping():
            message = f"is missing; a session needs one, such as {example!r}"
            yield Problem(session.place, f"session.{key}", message)
    approval = document.mapping().get("approval")
    if approval is not None:
        yield from _find_missing_server(approval)
        yield from _find_terminal_alone(approval)


_NEEDED = {
    "server": "the address of the server, such as http://127.0.0.1:8411",
    "token": "an agent's token for the server, such as ${AMPLIFIER_TOKEN}",
}
_USUAL = {"persons": 1, "requester_may_approve": True, "scope": ""}


def _find_missing_server(approval: Node) -> Iterator[Problem]:
    """People who are asked through a server are asked through one that is named."""
    if "server" not in list_ways(to_plain(approval)):
        return
    via = approval.mapping()["via"]
    for key, example in _NEEDED.items():
        if key not in approval.mapping():
            message = f"is missing; approval.via: server needs {example}"
            yield Problem(via.place, f"approval.{key}", message)


def _find_terminal_alone(approval: Node) -> Iterator[Problem]:
    """Whoever is at the terminal is one person, and the one who runs the agent."""
    if "terminal" not in list_ways(to_plain(approval)):
        return
    for key, usual in _USUAL.items():
        node = approval.mapping().get(key)
        if node is not None and node.value != usual:
            message = "cannot hold at the terminal; use approval.via: store, or server"
            yield Problem(node.place, f"approval.{key}", message)


def _move_options(plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """Plans of the ecosystem keep options and sources of the loop and the context elsewhere."""
    session = plan["session"]
    beside = [key for key in EXAMPLES if key in plan or f"{key}_source" in session]
    if not beside:
        return plan
    read = MountPlan.parse(plan).session
    entries = {key: getattr(read, key).to_dict() for key in beside}
    kept = {key: value for key, value in session.items() if not key.endswith("_source")}
    return {**plan, "session": {**kept, **entries}}


def _read(plan: Mapping[str, Any], name: str) -> Node:
    return write_out(make_node(plan, Place(name)), Path.cwd())
