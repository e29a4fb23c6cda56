"""Every code of an error that the source can give stands on the page of errors, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from amplifier_hooks.server import encoding

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "errors.md"
SOURCES = ("server", "http_guard")
_ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \|", re.MULTILINE)


def list_literals(tree: ast.AST) -> Iterator[str]:
    """What stands as `code="…"`, as `{"code": "…"}`, or first in `make_error("…")`."""
    for node in ast.walk(tree):
        found: list[ast.expr | None] = []
        if isinstance(node, ast.Call):
            found += [one.value for one in node.keywords if one.arg == "code"]
            if isinstance(node.func, ast.Name) and node.func.id == "make_error":
                found += node.args[:1]
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            found += [
                value
                for key, value in pairs
                if isinstance(key, ast.Constant) and key.value == "code"
            ]
        for one in found:
            # An example of a login code has the same key, in capitals.
            if isinstance(one, ast.Constant) and str(one.value).islower():
                yield str(one.value)


def list_raised() -> set[str]:
    """The codes of the source; those that a status or the kind of an error stands for, too."""
    folders = [ROOT / "src" / "amplifier_hooks" / one for one in SOURCES]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    found = {code for path in files for code in list_literals(ast.parse(path.read_text()))}
    by_kind = {code for _, code in encoding._STATUS.values()}
    return found | by_kind | set(encoding._CODES.values()) | {"error"}


def test_every_code_stands_there_once_with_what_to_do() -> None:
    """And no other; in the order of the alphabet, so that it is found."""
    rows = [code for code, _ in _ROW.findall(PAGE.read_text(encoding="utf-8"))]
    assert len(list_raised()) > 30
    assert set(rows) == list_raised()
    assert rows == sorted(set(rows))


def test_the_page_of_judging_says_the_same() -> None:
    """Each code of its table, with the same status."""
    rows = dict(_ROW.findall(PAGE.read_text(encoding="utf-8")))
    text = (ROOT / "docs" / "judging.md").read_text(encoding="utf-8").partition("## Errors")[2]
    listed = re.findall(r"^\| (\d+) \| ((?:`\w+`(?:, )?)+) \|", text, re.MULTILINE)
    assert len(listed) >= 10
    for status, codes in listed:
        for code in re.findall(r"`(\w+)`", codes):
            assert status in rows[code], code
