"""JSON with the place of every value in the text, so that the text can be edited in parts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from amplifier_core.errors import AmplifierError

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
        start, children = self._at, list[Child]()
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
