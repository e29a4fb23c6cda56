"""The declared types of records: each is written, and nobody else speaks for the log."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit.format.record_types import KERNEL_TYPES, OWN_TYPES, mark_foreign
from tests.audit.support import LineCollector, extend_log, make_lines, verify_lines

ROOT = Path(__file__).parents[3]
Function = ast.FunctionDef | ast.AsyncFunctionDef


def find_called_name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def list_texts(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value


@cache
def list_calls(function: Function) -> list[ast.Call]:
    return [node for node in ast.walk(function) if isinstance(node, ast.Call)]


def list_arguments(writers: set[str], function: Function) -> Iterator[ast.expr]:
    """What a function hands to those that write records."""
    for call in list_calls(function):
        if find_called_name(call) in writers:
            yield from call.args
            yield from (keyword.value for keyword in call.keywords)


def find_writers(functions: list[Function]) -> set[str]:
    """The names of what writes records, with all that pass a type of theirs on to it."""
    writers, before = {"write", "write_ahead", "encode_source", "Opening"}, set[str]()
    while writers != before:
        before = set(writers)
        for function in functions:
            given = {
                one.id for one in list_arguments(writers, function) if isinstance(one, ast.Name)
            }
            if given & {one.arg for one in function.args.args} & {"type", "kind", "records"}:
                writers.add(function.name)
    return writers


def find_assigned(function: Function) -> dict[str, ast.expr]:
    return {
        target.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def list_written(writers: set[str], function: Function) -> Iterator[str]:
    arguments = list(list_arguments(writers, function))
    assigned = find_assigned(function) if arguments else {}
    for given in arguments:
        yield from list_texts(
            assigned.get(given.id, given) if isinstance(given, ast.Name) else given
        )
    if function.name in writers:
        yield from (text for default in function.args.defaults for text in list_texts(default))


@cache
def read_functions() -> list[Function]:
    """Every function of every package."""
    return [
        node
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, Function)
    ]


def find_written_types() -> set[str]:
    functions = read_functions()
    writers = find_writers(functions)
    return {text for function in functions for text in list_written(writers, function)}


def test_every_declared_type_is_written_somewhere() -> None:
    """No type is announced that a reader will never meet."""
    assert sorted((OWN_TYPES | KERNEL_TYPES) - find_written_types()) == []


def find_named_types(receiver: str, methods: set[str]) -> set[str]:
    """The texts that stand first in the calls of these methods."""
    calls = [call for one in read_functions() for call in list_calls(one)]
    return {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in methods
        and ast.unparse(call.func.value).endswith(receiver)
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    }


def test_every_type_that_is_written_by_name_is_declared() -> None:
    """A new type that a session or the log writes is added to the list."""
    by_sessions = find_named_types("trail", {"write", "write_ahead"})
    by_the_log = find_named_types("", {"add_own"})
    assert "tool_started" in by_sessions
    assert "segment_removed" in by_the_log
    assert sorted(by_sessions - KERNEL_TYPES) == []
    assert sorted(by_the_log - OWN_TYPES) == []


def test_the_page_lists_exactly_the_declared_types() -> None:
    """Readers of a log find each type in docs/audit.md, and none that is not written."""
    page = (ROOT / "docs" / "audit.md").read_text("utf-8")
    section = page[page.index("### Types") : page.index("### What a record of an event holds")]
    listed = set(re.findall(r"`([a-z_]{4,})`", section)) - {"x_"}
    assert listed == OWN_TYPES | KERNEL_TYPES


def test_no_type_is_both_the_logs_own_and_the_kernels() -> None:
    """Else records of a session would be marked as foreign."""
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


@pytest.mark.parametrize("type", ["approval_late", "hook_timed_out", "from_the_future"])
def test_a_log_with_unknown_types_verifies(type: str) -> None:
    """Logs of other versions and modules hold types that are not declared here."""
    assert verify_lines(extend_log(make_lines(3), type, {"any": 1})).verdict == "consistent"
