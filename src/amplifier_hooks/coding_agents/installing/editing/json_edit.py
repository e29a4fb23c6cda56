"""Adding, replacing and removing one value in the text of a JSON file; the rest stays as it is."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from amplifier_hooks.coding_agents.installing.editing.json_tree import Child, Node

_INDENT = re.compile(r"[{\[][ \t]*\r?\n([ \t]+)\S")
_COMMENTS_ON_LINE = re.compile(r"(?:[ \t]*(?:/\*[^\r\n]*?\*/|//[^\r\n]*))*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Style:
    """How a document is written."""

    newline: str
    indent: str
    is_compact: bool


def read_style(text: str) -> Style:
    """What the text itself shows, and two spaces where it shows nothing."""
    found = _INDENT.search(text)
    return Style(
        newline="\r\n" if "\r\n" in text else "\n",
        indent=found.group(1) if found else "  ",
        is_compact="\n" not in text.strip() and bool(text.strip("{} \t\r\n")),
    )


def append_child(text: str, container: Node, name: str | None, value: Any) -> str:
    """Add a member (or an item, without a name) behind the last one."""
    style = read_style(text)
    if not container.children:
        return _fill(text, container, name, value, style)
    last, close = container.children[-1], container.end - 1
    if "\n" not in text[container.start : close]:
        written = _write(name, value, style, None)
        return f"{text[: last.end]}, {written}{text[last.end :]}"
    base = _get_indent(text, last.start)
    written = style.newline + base + _write(name, value, style, base)
    comma = _find_comma(text, last.end, close)
    at = _COMMENTS_ON_LINE.match(text, last.end if comma is None else comma + 1, close).end()  # type: ignore[union-attr]
    if comma is None:
        return f"{text[: last.end]},{text[last.end : at]}{written}{text[at:]}"
    return f"{text[:at]}{written},{text[at:]}"


def _fill(text: str, container: Node, name: str | None, value: Any, style: Style) -> str:
    """Put the first child into an empty container, behind the comments in it."""
    close = container.end - 1
    inner = text[container.start + 1 : close]
    head = inner.rstrip()
    tail = inner[len(head) :]
    at = container.start + 1 + len(head)
    if style.is_compact:
        return f"{text[:at]}{_write(name, value, style, None)}{tail}{text[close:]}"
    around = _get_indent(text, container.start)
    base = around + style.indent
    if "\n" not in tail:
        tail = style.newline + around
    written = style.newline + base + _write(name, value, style, base)
    return f"{text[:at]}{written}{tail}{text[close:]}"


def replace_value(text: str, node: Node, value: Any) -> str:
    """Write another value in the place of one, in lines if it had several."""
    style = read_style(text)
    has_lines = "\n" in text[node.start : node.end]
    base = _get_indent(text, node.start) if has_lines else None
    return f"{text[: node.start]}{_write(None, value, style, base)}{text[node.end :]}"


def remove_child(text: str, container: Node, child: Child, empty: str = "") -> str:
    """Take a child out, with the comma and the space that came with it.

    `empty` is what is to stand in the container when nothing else does.
    """
    if len(container.children) == 1:
        return _empty(text, container, child, empty)
    number = container.children.index(child)
    is_last = number == len(container.children) - 1
    following = container.end - 1 if is_last else container.children[number + 1].start
    comma = _find_comma(text, child.end, following)
    before = container.children[number - 1].end if number else container.start + 1
    start = _find_start(text, before, child)
    if comma is not None:
        rest = text[child.end : comma] + text[comma + 1 :]
        is_tight = start == child.start and start == before
        return text[:start] + (rest.lstrip() if is_tight else rest)
    comma = _find_comma(text, before, child.start)  # ours is the last one: that before it goes
    assert comma is not None
    return text[:comma] + text[comma + 1 : max(start, comma + 1)] + text[child.end :]


def _find_start(text: str, before: int, child: Child) -> int:
    """Where the space in front of a child begins; a line comment keeps the end of its line."""
    start = len(text[: child.start].rstrip(" \t\r\n"))
    goes_on = text[child.end :].lstrip(" \t,")[:1] not in ("\r", "\n")
    return child.start if goes_on and _has_line_comment(text, before, start) else start


def _has_line_comment(text: str, start: int, end: int) -> bool:
    found = list(_COMMENT.finditer(text, start, end))
    return bool(found) and found[-1].end() == end and found[-1].group().startswith("//")


def _empty(text: str, container: Node, child: Child, empty: str) -> str:
    first, close = container.start + 1, container.end - 1
    comma = _find_comma(text, child.end, close)
    behind = text[child.end : close]
    if comma is not None:
        behind = text[child.end : comma] + text[comma + 1 : close]
    left = text[first : _find_start(text, first, child)] + behind
    inner = empty if left.strip() == empty.strip() else left
    return text[:first] + inner + text[close:]


def _write(name: str | None, value: Any, style: Style, base: str | None) -> str:
    """The value as JSON: in lines that begin with `base`, or in one line."""
    start = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}: "
    if base is None:
        return start + json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=style.indent).split("\n")
    return start + (style.newline + base).join(lines)


def _get_indent(text: str, position: int) -> str:
    """The white space at the start of the line that a position is on."""
    start = text.rfind("\n", 0, position) + 1
    line = text[start:position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _find_comma(text: str, start: int, end: int) -> int | None:
    """The first comma that is in no comment."""
    while start < end:
        comment = _COMMENT.match(text, start, end)
        if comment is not None:
            start = comment.end()
        elif text[start] == ",":
            return start
        else:
            start += 1
    return None
