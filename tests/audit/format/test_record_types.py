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
from amplifier_audit.reader.line_verifier import LineVerifier
from tests.audit.support import LineCollector, lines_of, source

ROOT = Path(__file__).parents[3]
Function = ast.FunctionDef | ast.AsyncFunctionDef


def called_name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def texts_in(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value


def arguments_to(writers: set[str], function: Function) -> Iterator[ast.expr]:
    """What a function hands to those that write records."""
    for call in ast.walk(function):
        if isinstance(call, ast.Call) and called_name(call) in writers:
            yield from call.args
            yield from (keyword.value for keyword in call.keywords)


def find_writers(functions: list[Function]) -> set[str]:
    """The names of what writes records, with all that pass a type of theirs on to it."""
    writers, before = {"write", "write_ahead", "encode_source", "Opening"}, set[str]()
    while writers != before:
        before = set(writers)
        for function in functions:
            given = {one.id for one in arguments_to(writers, function) if isinstance(one, ast.Name)}
            if given & {one.arg for one in function.args.args} & {"type", "kind", "records"}:
                writers.add(function.name)
    return writers


def written_by(writers: set[str], function: Function) -> Iterator[str]:
    assigned = {
        target.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for given in arguments_to(writers, function):
        yield from texts_in(assigned.get(given.id, given) if isinstance(given, ast.Name) else given)
    if function.name in writers:
        yield from (text for default in function.args.defaults for text in texts_in(default))


def written_types() -> set[str]:
    functions = [
        node
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, Function)
    ]
    writers = find_writers(functions)
    return {text for function in functions for text in written_by(writers, function)}


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
    verifier = LineVerifier()
    for line in lines:
        verifier.feed(line)
    chain = Chain(verifier.log or "", verifier.head)
    verifier.feed(chain.extend(source(type), encode_body({"any": 1})))
    assert verifier.finish().verdict == "consistent"
