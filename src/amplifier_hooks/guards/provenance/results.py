"""Results of tools, read into fields and prose.

A text is parsed only if the whole of it is JSON, YAML or a table; otherwise all of it is prose.
"""

from __future__ import annotations

import ast
import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from amplifier_hooks.guards.provenance.values import LINK, MAIL
from amplifier_hooks.guards.provenance.words import PROSE_KEYS

_LONGEST_FIELD = 80
_MOST_WORDS = 6
_MOST_PARTS = 20_000
_LONGEST_PARSED = 400_000
_YAML_LINE = re.compile(r"\s*(?:-\s+)?[\w-]{1,40}:(?:\s|$)|\s*-\s+\S|\s+\S|\s*$|[}\]]")
_GAP = re.compile(r" {2,}")
_TABLE_RULE = re.compile(r"\|?(?:\s*:?-{2,}:?\s*\|)+\s*:?-*:?\s*\|?")
_KEY_SPLIT = re.compile(r"[^\W_A-Z]+|[A-Z]+[^\W_A-Z]*", re.UNICODE)
_SENTENCE = re.compile(r"[.!?;:,]\s+\S|[.!?]$")
_NAMED_ADDRESS = re.compile(r"[^\W\d_][^<>@!?;:\n]{0,50}<[^<>@\s]+@[^<>@\s]+>")
_ONE_KEY = re.compile(r"\s*([^\W\d_]\w{0,30}): +([\w/-]*\d[\w/-]*)\s*")
"""What a system says of what it has just made: `booking: B-12`."""
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class Part:
    """A scalar of a result: where it stands, whether it is prose, and the number of its record."""

    path: str
    key: str
    text: str
    is_prose: bool
    record: int


@dataclass(slots=True)
class Reading:
    """A result, read."""

    parts: list[Part] = field(default_factory=list)
    records: int = 0


def split_key(key: str) -> list[str]:
    """The words of a key, in small letters, and the key itself."""
    words = [word.casefold() for word in _KEY_SPLIT.findall(key)]
    return words if len(words) < 2 else [*words, key.casefold()]


def is_prose(key: str, text: str) -> bool:
    """Whether a text is prose, by its key and its form."""
    if len(text) > _LONGEST_FIELD or "\n" in text:
        return True
    if PROSE_KEYS.any(split_key(key)[-2:]):
        return True
    if _NAMED_ADDRESS.fullmatch(text):
        return False
    words = text.split()
    if len(words) > _MOST_WORDS or (len(words) > 2 and _SENTENCE.search(text)):
        return True
    return len(words) > 2 and bool(LINK.search(text) or MAIL.search(text))


def read_result(result: Any, *, only_prose: bool, is_file: bool = False) -> Reading:
    """The parts of a result; with `only_prose`, none of them is a field.

    The lines of a file are prose, unless they are JSON or a list.
    """
    reading = Reading()
    value = _unwrap(result)
    if (
        is_file
        and not only_prose
        and isinstance(value, dict)
        and isinstance(_find_text(result), str)
    ):
        said = str(_find_text(result)).lstrip()
        value = value if said[:1] in "[{" else said
    if only_prose:
        for path, text in _list_texts(value):
            reading.parts.append(Part(path, "", text, True, 0))
        return reading
    if isinstance(value, str) and " " in value.strip():
        reading.parts.append(Part("", "", value, True, 0))
    else:
        _Walk(reading).enter(value, "", "")
    return reading


def _unwrap(result: Any) -> Any:
    """What the tool said, without the frame of loops and of MCP."""
    if isinstance(result, Mapping):
        if "output" in result and "success" in result:
            error = result.get("error")
            output = _unwrap(result["output"])
            return output if error is None else [output, {"error": str(error)}]
        if result.get("structuredContent") is not None:
            return result["structuredContent"]
        content = result.get("content")
        if isinstance(content, list) and all(_is_block(one) for one in content):
            return _join_blocks(content)
    if isinstance(result, list) and result and all(_is_block(one) for one in result):
        return _join_blocks(result)
    return _parse(result) if isinstance(result, str) else result


def _find_text(result: Any) -> Any:
    return result.get("output") if isinstance(result, Mapping) else result


def _is_block(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("type"), str) and "text" in value


def _join_blocks(blocks: list[Any]) -> Any:
    texts = [_parse(str(block["text"])) for block in blocks]
    return texts[0] if len(texts) == 1 else texts


def _list_texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    pending = [(path, value)]
    count = 0
    while pending and count < _MOST_PARTS:
        path, one = pending.pop()
        count += 1
        if isinstance(one, Mapping):
            pending += [(f"{path}.{key}".lstrip("."), part) for key, part in one.items()]
        elif isinstance(one, list | tuple):
            pending += [(path, part) for part in one]
        elif one is not None and not isinstance(one, bool):
            yield path, str(one)


def _parse(text: str) -> Any:
    """The values that a text is; the text itself if it is none."""
    start = text.lstrip()[:1]
    if not start or len(text) > _LONGEST_PARSED:
        return text
    if start in "[{":
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return _parse_literal(text)
    if any(mark in text for mark in ("|", ";", "\t", ",", "  ")):
        table = _parse_table(text)
        if table is not None:
            return table
    return _parse_yaml(text)


def _parse_literal(text: str) -> Any:
    """What Python would print of values."""
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _parse_yaml(text)
    return value if isinstance(value, dict | list) else text


def _parse_yaml(text: str) -> Any:
    if one := _ONE_KEY.fullmatch(text):
        return {one[1]: one[2]}
    lines = text.splitlines()
    if len(lines) < 2 or (":" not in text and not text.lstrip().startswith("- ")):
        return text
    if not all(_YAML_LINE.match(line) for line in lines) or re.search(r"(?:^|\s)[&*]\w", text):
        return text
    try:
        value = yaml.load(text, _UniqueLoader)
    except (yaml.YAMLError, ValueError, RecursionError, TypeError):
        return text
    return value if isinstance(value, dict | list) else text


class _UniqueLoader(_LOADER):  # type: ignore[misc]
    """Takes no mapping that has a key twice: a body could have added the second one."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [one.value for one, _ in node.value]
        if len(keys) != len({str(one) for one in keys}):
            raise yaml.YAMLError("a key is there twice")
        return super().construct_mapping(node, deep)


def _parse_table(text: str) -> Any:
    """The rows of a Markdown table or of lines with separators, if the whole text is one."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        return None
    if lines[0].lstrip().startswith("|"):
        if not _TABLE_RULE.fullmatch(lines[1].strip()):
            return None
        rows = [[one.strip() for one in line.strip().strip("|").split("|")] for line in lines]
        del rows[1]
    else:
        found = _split_rows(lines)
        if found is None:
            return None
        rows = found
    head = rows[0]
    if not _is_head(head) or any(len(row) != len(head) for row in rows):
        return None
    return [dict(zip(head, row, strict=True)) for row in rows[1:]]


def _is_head(cells: list[str]) -> bool:
    return len(cells) > 1 and all(0 < len(one) < 30 for one in cells)


def _split_rows(lines: list[str]) -> list[list[str]] | None:
    """The cells of lines with separators, or of columns that blanks keep apart."""
    if re.search(r"[.!?:]\s", lines[0]):
        return None
    mark = next((one for one in "\t|;," if one in lines[0]), "")
    if not mark:
        return [_GAP.split(line.strip()) for line in lines]
    if not _is_head([one.strip() for one in lines[0].split(mark)]):
        return None
    try:
        return [[one.strip() for one in row] for row in csv.reader(lines, delimiter=mark)]
    except csv.Error:
        return None


class _Walk:
    """Goes through values, and gives each mapping with scalars a number of its own."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def enter(self, value: Any, key: str, path: str, record: int = 0, depth: int = 0) -> None:
        if len(self._reading.parts) > _MOST_PARTS or depth > 60:
            self._add("", path, str(value)[:_LONGEST_PARSED], record)
        elif isinstance(value, Mapping):
            self._enter_mapping(value, path, record, depth)
        elif isinstance(value, list | tuple | set):
            for one in value:
                self.enter(one, key, path, record, depth + 1)
        elif value is not None and not isinstance(value, bool):
            self._add(key, path, str(value), record)

    def _enter_mapping(self, value: Mapping[Any, Any], path: str, record: int, depth: int) -> None:
        if any(not isinstance(one, dict | list) for one in value.values()):
            self._reading.records += 1
            record = self._reading.records
        for name, one in value.items():
            name = str(name)
            if not name.isidentifier() or isinstance(one, Mapping):
                self._add("", path, name, record)  # `{"Hotel Sol": {…}}`: the key is data
            self.enter(one, name, f"{path}.{name}".lstrip("."), record, depth + 1)

    def _add(self, key: str, path: str, text: str, record: int) -> None:
        if text:
            self._reading.parts.append(Part(path, key, text, is_prose(key, text), record))
