"""Mount plans written in code, under the same rules as bundle files, and the long form of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from amplifier_core.mount_plan import EXAMPLES, LISTS, MountPlan, list_ways, read_entry
from amplifier_hooks.agent.bundles import schema
from amplifier_hooks.agent.bundles.bundle import Bundle, make_bundle
from amplifier_hooks.yaml_files.node import (
    Node,
    Place,
    Problem,
    find_broken,
    make_node,
    raise_problems,
    to_plain,
)

_PATH_STARTS = ("./", "../", "/", "~/")


def write_out(document: Node, base: Path) -> Node:
    """Turn module ids into entries, and make paths absolute, from the folder of their file."""
    document = _write_words(document)
    document = _change_lists(document, base)
    document = _change_key(document, "session", lambda node: _write_session(node, base))
    for section, key in (("audit", "path"), ("approval", "store")):
        document = _resolve_key(document, section, key, base)
    document = _change_key(document, "sandbox", lambda node: _write_sandbox(node, base))
    return _change_key(
        document,
        "agents",
        lambda node: _change_values(node, lambda agent: _write_agent(agent, base)),
    )


def _write_words(document: Node) -> Node:
    """`secrets: ask` and `rules:` at the top as the entries of hooks that they are short for."""
    entries = [_make_word_entry(document.mapping().get(key), *rest) for key, *rest in _WORDS]
    hooks = document.mapping().get("hooks") or Node((), document.place)
    added = tuple(one for one in entries if one is not None and one not in hooks.items())
    # What is wrong in place of a list is told with its line.
    if not added or not isinstance(hooks.value, tuple | None):
        return document
    return document.with_key("hooks", replace(hooks, value=(*hooks.items(), *added)))


_WORDS = (("secrets", "hooks-secret-guard", "mode"), ("rules", "hooks-rules", "rules"))


def _make_word_entry(node: Node | None, module: str, option: str) -> Node | None:
    """An entry with one option. Rules of several files hold together, so each has its own entry."""
    if node is None or node.value is None:
        return None
    entry = {"module": Node(module, node.place)}
    if option == "rules":
        entry["name"] = Node(f"rules of {node.place.file}", node.place)
    entry["config"] = Node({option: node}, node.place)
    return Node(entry, node.place)


def _resolve_key(document: Node, section: str, key: str, base: Path) -> Node:
    return _change_key(
        document, section, lambda node: _change_key(node, key, lambda p: _resolve_path(p, base))
    )


def _change_key(node: Node, key: str, change: Callable[[Node], Node]) -> Node:
    child = node.mapping().get(key)
    return node if child is None else node.with_key(key, change(child))


def _change_values(node: Node, change: Callable[[Node], Node]) -> Node:
    if not isinstance(node.value, dict):
        return node
    return replace(node, value={key: change(child) for key, child in node.value.items()})


def _change_items(node: Node, change: Callable[[Node], Node]) -> Node:
    return replace(node, value=tuple(map(change, node.value))) if node.items() else node  # type: ignore[arg-type]


def _change_lists(node: Node, base: Path, keys: tuple[str, ...] = LISTS) -> Node:
    for key in keys:
        node = _change_key(
            node, key, lambda entries: _change_items(entries, lambda e: _write_entry(e, base))
        )
    return node


def _write_sandbox(node: Node, base: Path) -> Node:
    if not isinstance(node.value, dict):
        node = Node({"mode": node}, node.place)
    # In YAML `off` is a way to write false.
    node = _change_key(
        node, "mode", lambda mode: replace(mode, value="off") if mode.value is False else mode
    )
    return _change_key(
        node, "write", lambda paths: _change_items(paths, lambda path: _resolve_path(path, base))
    )


def _write_session(node: Node, base: Path) -> Node:
    for key in EXAMPLES:
        node = _change_key(node, key, lambda entry: _write_entry(entry, base))
    return node


def _write_agent(agent: Node, base: Path) -> Node:
    agent = _change_key(agent, "session", lambda node: _write_session(node, base))
    agent = _change_key(
        agent, "tools", lambda tools: _change_items(tools, lambda tool: _write_tool(tool, base))
    )
    return _change_lists(agent, base, ("providers", "hooks"))


def _write_tool(tool: Node, base: Path) -> Node:
    """Tools have names like Read, modules have ids like tool-filesystem."""
    is_module = isinstance(tool.value, dict) or "-" in str(tool.value) or "/" in str(tool.value)
    return _write_entry(tool, base) if is_module else tool


def _write_entry(entry: Node, base: Path) -> Node:
    if isinstance(entry.value, str):
        entry = Node({"module": entry}, entry.place)
    module = entry.text("module")
    if module is not None and module.startswith(_PATH_STARTS):
        path = replace(entry.mapping()["module"], value=module)
        stem = Path(module).stem.replace("_", "-")
        entry = entry.with_key("source", path).with_key("module", replace(path, value=stem))
    return _change_key(entry, "source", lambda node: _resolve_path(node, base))


def _resolve_path(node: Node, base: Path) -> Node:
    if not isinstance(node.value, str) or not node.value or "://" in node.value:
        return node
    return replace(node, value=str((base / Path(node.value).expanduser()).absolute()))


_NEED_A_MODEL = frozenset({"hooks-session-naming"})
_JUDGE = "hooks-model-judge"
_SHOW_PROGRESS = frozenset({"hooks-progress-monitor"})


def keep_hooks_only(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The plan without what the other program has itself: model, tools, agents, sandbox.

    A model that answers questions is not the other program's, so its provider stays.
    """
    session = {**plan["session"], "orchestrator": "loop-basic", "context": "context-simple"}
    # The other program knows how many of its calls run at once: they may wait for one another.
    session["limits"] = {"tool_calls_at_once": None, **(session.get("limits") or {})}
    hooks = [_leave_showing(one) for one in plan["hooks"] if not _needs_model(one)]
    return {
        **plan,
        "session": session,
        "providers": plan["providers"] if _has_judge(plan) else [],
        "tools": [],
        "agents": {},
        "hooks": hooks,
        "sandbox": {"mode": "off"},
    }


def _has_judge(plan: Mapping[str, Any]) -> bool:
    return any(read_entry("hooks", one).module == _JUDGE for one in plan["hooks"])


def _needs_model(entry: Any) -> bool:
    return read_entry("hooks", entry).module in _NEED_A_MODEL


def _leave_showing(entry: Any) -> Any:
    """How far it is, the other program shows itself; lines of ours would stand between its own."""
    found = read_entry("hooks", entry)
    if found.module not in _SHOW_PROGRESS or not isinstance(entry, Mapping):
        return entry
    return {**entry, "config": {"show": False, **found.config}}


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
