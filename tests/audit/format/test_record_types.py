"""The declared types of records: each is written, and nobody else speaks for the log."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit.format.chain import Chain
from amplifier_audit.format.encoding import encode_body
from amplifier_audit.format.record_types import KERNEL_TYPES, OWN_TYPES, mark_foreign
from amplifier_audit.reader.line_verifier import Verifier
from tests.audit.support import LineCollector, lines_of, source

ROOT = Path(__file__).parents[3]
WRITES = {"write", "write_ahead", "add_own", "add_checkpoint", "Opening", "_report_broken"}


def called_name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def texts_in(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value


def written_in(function: ast.AST) -> Iterator[str]:
    """The texts that a function may hand to something that writes records as their type."""
    assigned = {
        target.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in ast.walk(function):
        if not (isinstance(call, ast.Call) and called_name(call) in WRITES):
            continue
        for given in (*call.args, *(keyword.value for keyword in call.keywords)):
            yield from texts_in(given)
            if isinstance(given, ast.Name) and given.id in assigned:
                yield from texts_in(assigned[given.id])
    if isinstance(function, ast.FunctionDef) and function.name == "add_checkpoint":
        yield from (text for default in function.args.defaults for text in texts_in(default))


def written_types() -> set[str]:
    found: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.update(written_in(node))
    return found


def test_every_declared_type_is_written_somewhere() -> None:
    """What is declared is used."""
    assert sorted((OWN_TYPES | KERNEL_TYPES) - written_types()) == []


def test_the_page_lists_exactly_the_declared_types() -> None:
    """Readers of a log find each type in docs/audit.md, and none that is not written."""
    page = (ROOT / "docs" / "audit.md").read_text("utf-8")
    section = page[page.index("### Types") : page.index("## The directory")]
    listed = set(re.findall(r"`([a-z_]{4,})`", section)) - {"x_"}
    assert listed == OWN_TYPES | KERNEL_TYPES


def test_no_type_is_both_the_logs_own_and_the_kernels() -> None:
    """Else the kernel's records would be marked as foreign."""
    assert not OWN_TYPES & KERNEL_TYPES


@pytest.mark.parametrize("type", sorted(OWN_TYPES))
def test_what_the_log_says_of_itself_nobody_else_can_say(type: str) -> None:
    """A caller cannot forge a checkpoint or a recovery."""
    collector = LineCollector()
    collector.append(type, {})
    assert [record["type"] for record in collector.records] == [f"x_{type}"]


@pytest.mark.parametrize("type", ["dispatch", "my_own", "x_checkpoint", "", 5, None, ["odd"]])
def test_other_types_stay_as_they_are(type: Any) -> None:
    """Modules may use types of their own."""
    assert mark_foreign(type) == type


def test_a_type_is_always_a_short_text() -> None:
    """Whatever a caller hands in."""
    collector = LineCollector()
    collector.append("x" * 999, {})
    collector.append(["odd"], {})
    assert [record["type"] for record in collector.records] == ["x" * 256, "['odd']"]


@pytest.mark.parametrize("type", ["approval_late", "hook_timed_out", "from_the_future"])
def test_a_log_with_unknown_types_verifies(type: str) -> None:
    """Logs of other versions and modules hold types that are not declared here."""
    lines = lines_of(3)
    verifier = Verifier()
    for line in lines:
        verifier.feed(line)
    chain = Chain(verifier.log or "", verifier.head())
    verifier.feed(chain.extend(source(type), encode_body({"any": 1})))
    assert verifier.finish().verdict == "consistent"
