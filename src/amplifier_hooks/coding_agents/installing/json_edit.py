"""JSON with the place of every value in its text, and edits that leave the rest as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from amplifier_core.errors import AmplifierError

# Reading


_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_DEEPEST = 200


class JsonProblem(AmplifierError):
    """The text cannot be read, or not be edited, with the line where that shows."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(f"line {line}: {what}")
        self.what = what
        self.line = line


@dataclass(frozen=True, slots=True)
class Child:
    """A member of an object, or an item of an array: from its first character to its last."""

    start: int
    end: int
    name: str | None
    node: Node


@dataclass(frozen=True, slots=True)
class Node:
    """A value, and where it stands in the text."""

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int
    children: tuple[Child, ...] = ()
    scalar: Any = None

    def to_value(self) -> Any:
        """What a reader of JSON makes of it; of two members with one name, the last counts."""
        if self.kind == "object":
            return {str(one.name): one.node.to_value() for one in self.children}
        if self.kind == "array":
            return [one.node.to_value() for one in self.children]
        return self.scalar

    def find(self, name: str) -> list[Child]:
        """The members with a name: usually one or none."""
        return [one for one in self.children if one.name == name]


@lru_cache(maxsize=4)  # whoever edits a text asks for its tree again and again
def parse_json(text: str, *, comments: bool = False, trailing_commas: bool = False) -> Node:
    """The tree of a text, or JsonProblem with the line that cannot be read."""
    return _Parser(text, comments, trailing_commas).parse()


def count_line(text: str, position: int) -> int:
    """The number of the line on which a position is."""
    return text.count("\n", 0, position) + 1


def _decode(text: str) -> Any:
    # Python refuses to read very long integers as numbers.
    return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < 99 else digits)


class _Parser:
    def __init__(self, text: str, comments: bool, trailing_commas: bool) -> None:
        self._text = text
        self._comments = comments
        self._trailing_commas = trailing_commas
        self._at = 0
        self._depth = 0

    def parse(self) -> Node:
        self._skip()
        root = self._read_value()
        self._skip()
        if self._at < len(self._text):
            raise self._complain("there is more behind the end of the value")
        return root

    def _complain(self, what: str) -> JsonProblem:
        return JsonProblem(what, count_line(self._text, self._at))

    def _skip(self) -> None:
        """Go past white space, and past comments where they are allowed."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if not self._text.startswith(("//", "/*"), self._at):
                return
            if not self._comments:
                raise self._complain("a comment, which this agent does not read")
            found = _COMMENT.match(self._text, self._at)
            if found is None:
                raise self._complain("this comment has no end")
            self._at = found.end()

    def _read_value(self) -> Node:
        start = self._text[self._at : self._at + 1]
        if start == "{":
            return self._read_container("object", "}", self._read_member)
        if start == "[":
            return self._read_container("array", "]", self._read_item)
        return self._read_scalar()

    def _read_scalar(self) -> Node:
        start = self._at
        is_string = self._text.startswith('"', start)
        found = (_STRING if is_string else _SCALAR).match(self._text, start)
        if found is None:
            raise self._complain(self._name_wrong(is_string))
        self._at = found.end()
        return Node("scalar", start, self._at, scalar=_decode(found.group()))

    def _name_wrong(self, is_string: bool) -> str:
        if is_string:
            return "this string has no end, or holds a character that must be escaped"
        shown = self._text[self._at : self._at + 20].split("\n")[0].rstrip()
        return f"expected a value, found {shown!r}" if shown else "expected a value, the text ends"

    def _read_container(
        self, kind: Literal["object", "array"], closing: str, read: Callable[[], Child]
    ) -> Node:
        start = self._at
        children = list[Child]()
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._complain(f"more than {_DEEPEST} values within one another")
        self._at += 1
        self._skip()
        while not self._text.startswith(closing, self._at):
            children.append(read())
            self._skip()
            if not self._text.startswith(",", self._at):
                break
            self._read_comma(closing)
        if not self._text.startswith(closing, self._at):
            raise self._complain(f"expected ',' or {closing!r}")
        self._at += 1
        self._depth -= 1
        return Node(kind, start, self._at, tuple(children))

    def _read_comma(self, closing: str) -> None:
        self._at += 1
        self._skip()
        if self._text.startswith(closing, self._at) and not self._trailing_commas:
            raise self._complain(f"a comma before {closing!r}")

    def _read_item(self) -> Child:
        start = self._at
        node = self._read_value()
        return Child(start, node.end, None, node)

    def _read_member(self) -> Child:
        start = self._at
        if not self._text.startswith('"', start):
            raise self._complain('expected the name of a key, in "double quotes"')
        name = self._read_scalar()
        self._skip()
        if not self._text.startswith(":", self._at):
            raise self._complain(f"expected ':' behind the key {name.scalar!r}")
        self._at += 1
        self._skip()
        node = self._read_value()
        return Child(start, node.end, name.scalar, node)


# Adding, replacing and removing one value


_INDENT = re.compile(r"[{\[][ \t]*\r?\n([ \t]+)\S")
_COMMENTS_ON_LINE = re.compile(r"(?:[ \t]*(?:/\*[^\r\n]*?\*/|//[^\r\n]*))*")


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
    last = container.children[-1]
    close = container.end - 1
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
    first = container.start + 1
    close = container.end - 1
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
