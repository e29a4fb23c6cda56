"""The settings of an agent as text: our entries in them, beside those of others.

Both directions are pure functions: `remove_entries(add_entries(text), text)` is the text again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from amplifier_hooks.coding_agents.installing.json_edit import (
    Child,
    JsonProblem,
    Node,
    append_child,
    count_line,
    parse_json,
    remove_child,
    replace_value,
)

HOOKS = "hooks"


@dataclass(frozen=True, slots=True)
class Form:
    """How the settings of one agent are written, and which entries in them are ours."""

    is_ours: Callable[[Any], bool]
    """Of one handler."""
    grouped: bool
    """Whether an event has groups with handlers in them, or the handlers themselves."""
    comments: bool = False
    header: Mapping[str, Any] = field(default_factory=dict)
    """Keys that the file needs beside its hooks."""

    def parse(self, text: str) -> Node:
        """The tree of a text whose root and hooks have the right shape."""
        root = parse_json(text, comments=self.comments)
        if root.kind != "object":
            raise JsonProblem("the settings must be an object: { ... }", 1)
        return root


def add_entries(text: str, wanted: Mapping[str, Any], form: Form, original: str | None) -> str:
    """The text with exactly the wanted entry of ours at each event, and none elsewhere."""
    text = text if text.strip() else "{}\n"
    for key, value in form.header.items():
        text = _add_header(text, key, value, form)
    for event in _list_events(text, form):
        text = _keep_one(text, event, wanted.get(event), form, original)
    for event in wanted:
        if not _find_ours(text, event, form):
            text = _append(text, event, wanted, form)
    return text


def remove_entries(text: str, form: Form, original: str | None) -> str:
    """The text without our entries, and without what was only there for them.

    `original` is the text from before our entries; what is in there stays.
    """
    events = _list_events(text, form)
    for event in events:
        text = _keep_one(text, event, None, form, original)
    # Hooks that others have added since may need the header.
    if events and (_get_hooks(text, form) is None or _Before(original, form).has(HOOKS)):
        for key in form.header:
            text = _remove_header(text, key, form, original)
    return text


def set_value(text: str, path: tuple[str, ...], value: Any, form: Form) -> str:
    """The text with a value at the end of these keys; JsonProblem if another one is there."""
    node = form.parse(text)
    names = list(path)
    while True:
        found = _find_member(text, node, names[0])
        if found is None:
            for name in reversed(names[1:]):
                value = {name: value}
            return append_child(text, node, names[0], value)
        name = names.pop(0)
        line = count_line(text, found.start)
        if not names:
            if found.node.to_value() != value:
                raise JsonProblem(f"{'.'.join(path)!r} must be {json.dumps(value)} here", line)
            return text
        if found.node.kind != "object":
            raise JsonProblem(f"{name!r} must be an object: {{ ... }}", line)
        node = found.node


def remove_value(text: str, path: tuple[str, ...], form: Form, original: str | None) -> str:
    """The text without what `set_value` put there, unless it was there before."""
    before = _Before(original, form)
    for length in range(len(path), 0, -1):
        steps = path[:length]
        node = form.parse(text)
        for name in steps[:-1]:
            found = node.find(name)
            if not found or found[-1].node.kind != "object":
                return text
            node = found[-1].node
        member = node.find(steps[-1])
        if not member or before.has(*steps) or (length < len(path) and member[-1].node.children):
            return text
        text = remove_child(text, node, member[-1], before.get_inner(*steps[:-1]))
    return text


def list_entries(text: str, form: Form) -> dict[str, list[Any]]:
    """The entries in a text that hold handlers of ours, by event: groups, where there are any."""
    found = {}
    for event in _list_events(text, form):
        ours = _find_ours(text, event, form)
        if ours:
            found[event] = [one.item.node.to_value() for one in ours]
    return found


def find_position(text: str, event: str, form: Form) -> tuple[int, int] | None:
    """The number of the group and of the handler in it where our first entry stands."""
    found = _find_ours(text, event, form)
    return (found[0].group, found[0].number) if found else None


@dataclass(frozen=True, slots=True)
class _Found:
    """A handler of ours, the container it is in, and the place in the list of the event."""

    item: Child
    container: Node
    child: Child
    group: int
    number: int


def _list_events(text: str, form: Form) -> list[str]:
    hooks = _get_hooks(text, form)
    return [] if hooks is None else list(dict.fromkeys(str(one.name) for one in hooks.children))


def _get_hooks(text: str, form: Form) -> Node | None:
    found = _find_member(text, form.parse(text), HOOKS)
    if found is not None and found.node.kind != "object":
        raise JsonProblem("'hooks' must be an object: { ... }", count_line(text, found.start))
    return found.node if found else None


def _get_list(text: str, event: str, form: Form) -> Node | None:
    """What is configured for an event; None if nothing is, or nothing that we can add to."""
    hooks = _get_hooks(text, form)
    found = _find_member(text, hooks, event) if hooks else None
    return found.node if found and found.node.kind == "array" else None


def _find_member(text: str, parent: Node, name: str) -> Child | None:
    """The member with a name. Two are refused: agents read only one of them, and not ours."""
    found = parent.find(name)
    if len(found) > 1:
        line = count_line(text, found[1].start)
        raise JsonProblem(f"the key {name!r} is here a second time; keep one of them", line)
    return found[0] if found else None


def _find_ours(text: str, event: str, form: Form) -> list[_Found]:
    items = _get_list(text, event, form)
    found = []
    for group, item in enumerate(items.children if items else ()):
        container = _get_handlers(item) if form.grouped else items
        if container is None:
            continue
        handlers = container.children if form.grouped else (item,)
        found += [
            _Found(item, container, handler, group, number)
            for number, handler in enumerate(handlers)
            if form.is_ours(handler.node.to_value())
        ]
    return found


def _get_handlers(group: Child) -> Node | None:
    found = group.node.find(HOOKS)
    return found[-1].node if found and found[-1].node.kind == "array" else None


def _keep_one(text: str, event: str, entry: Any, form: Form, original: str | None) -> str:
    """Have our first entry say what is wanted; remove the others, or all if nothing is wanted."""
    for number in reversed(range(len(_find_ours(text, event, form)))):
        found = _find_ours(text, event, form)[number]
        is_whole = not form.grouped or len(found.container.children) == 1
        if not is_whole:  # somebody has put other handlers beside ours
            text = remove_child(text, found.container, found.child)
        elif entry is None or number > 0:
            text = _remove_item(text, event, found.item, form, original)
        elif found.item.node.to_value() != entry:
            text = replace_value(text, found.item.node, entry)
    return text


def _append(text: str, event: str, entries: Mapping[str, Any], form: Form) -> str:
    """Add our entry behind those of others; the first one brings the whole section if needed."""
    hooks = _get_hooks(text, form)
    if hooks is None:
        section = {name: [entry] for name, entry in entries.items()}
        return append_child(text, form.parse(text), HOOKS, section)
    member = _find_member(text, hooks, event)
    if member is None:
        return append_child(text, hooks, event, [entries[event]])
    if member.node.kind != "array":
        raise JsonProblem(f"{event!r} must be a list: [ ... ]", count_line(text, member.start))
    return append_child(text, member.node, None, entries[event])


def _remove_item(text: str, event: str, item: Child, form: Form, original: str | None) -> str:
    """Take out an entry, and the list and the section too if they are empty and were not there."""
    root = form.parse(text)
    section = root.find(HOOKS)[0]
    member = section.node.find(event)[0]
    if len(member.node.children) > 1:
        return remove_child(text, member.node, item)
    before = _Before(original, form)
    if before.has(HOOKS, event):
        return remove_child(text, member.node, item, before.get_inner(HOOKS, event))
    if len(section.node.children) > 1 or before.has(HOOKS):
        return remove_child(text, section.node, member, before.get_inner(HOOKS))
    return remove_child(text, root, section, before.get_inner())


def _add_header(text: str, key: str, value: Any, form: Form) -> str:
    root = form.parse(text)
    found = _find_member(text, root, key)
    if found is None:
        return append_child(text, root, key, value)
    if found.node.to_value() != value:
        line = count_line(text, found.start)
        raise JsonProblem(f"{key!r} must be {value!r}, the only one that we know", line)
    return text


def _remove_header(text: str, key: str, form: Form, original: str | None) -> str:
    before = _Before(original, form)
    root = form.parse(text)
    if before.has(key) or not root.find(key):
        return text
    return remove_child(text, root, root.find(key)[0], before.get_inner())


class _Before:
    """What a text held before our entries."""

    def __init__(self, text: str | None, form: Form) -> None:
        self._text = text or ""
        self._root = form.parse(self._text) if self._text.strip() else None

    def has(self, *path: str) -> bool:
        return self._find(path) is not None

    def get_inner(self, *path: str) -> str:
        """What stood between the brackets, if that was nothing but space and comments."""
        node = self._find(path)
        if node is None or node.children:
            return ""
        return self._text[node.start + 1 : node.end - 1]

    def _find(self, path: tuple[str, ...]) -> Node | None:
        node = self._root
        for name in path:
            found = node.find(name) if node else []
            node = found[-1].node if found else None
        return node
