"""Reading files with cases; whatever is wrong is said with its file, line, case and key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from amplifier_hooks.insight.cases import schema
from amplifier_hooks.insight.cases.case import TIME_LIMIT, Case, CaseFile, Expectation, Step
from amplifier_hooks.insight.cases.schema import find_contradictions
from amplifier_hooks.yaml_files.node import BundleError, Node, raise_problems, to_plain
from amplifier_hooks.yaml_files.reader import read_file

ENDINGS = (".cases.yaml", ".cases.yml", ".cases.json")
_APART = frozenset({"action", "hook", "error", "data"})


class CasesError(BundleError):
    """Cases that cannot be used; `problems` has every reason, one line each."""


def read_cases(path: Path) -> CaseFile:
    """The cases of a YAML or JSON file."""
    try:
        document = _add_key(read_file(path, None, set()))
        raise_problems(schema.find_problems(document))
        raise_problems(find_contradictions(document))
    except BundleError as error:
        raise CasesError(error.problems) from None
    plain = to_plain(document)
    nodes = document.mapping()["cases"].items()
    return CaseFile(
        path,
        tuple(_make_case(one, place, node) for place, (one, node) in _number(plain, nodes)),
        plain.get("hook"),
        plain.get("bundle"),
        plain.get("config", {}),
        float(plain.get("timeout", TIME_LIMIT)),
    )


def find_cases_beside(path: Path) -> Path | None:
    """The cases of a hook file, a folder or a bundle: NAME.cases.yaml beside it, if it is there."""
    whole = path.absolute()
    name = whole.name if path.is_dir() else path.stem
    folder = whole.parent if path.is_dir() else path.parent
    beside = (folder / f"{name}{ending}" for ending in ENDINGS)
    return next((one for one in beside if one.is_file()), None)


def _add_key(document: Node) -> Node:
    """A list alone stands for the file's cases."""
    if isinstance(document.value, tuple):
        return Node({"cases": document}, document.place)
    return document


def _number(plain: dict[str, Any], nodes: tuple[Node, ...]) -> Any:
    return enumerate(zip(plain["cases"], nodes, strict=True))


def _make_case(given: dict[str, Any], place: int, node: Node) -> Case:
    steps = given.get("steps", [given])
    return Case(
        given.get("name") or f"case {place + 1}: {steps[0]['event']}",
        tuple(_make_step(one) for one in steps),
        given.get("config", {}),
        given.get("files", {}),
        node.place.line,
    )


def _make_step(given: dict[str, Any]) -> Step:
    expected = given.get("expect")
    return Step(
        given["event"],
        given.get("data", {}),
        None if expected is None else _make_expectation(expected),
        given.get("times", 1),
        given.get("complete", True),
    )


def _make_expectation(given: str | dict[str, Any]) -> Expectation:
    if isinstance(given, str):
        return Expectation(given)
    fields = {name: value for name, value in given.items() if name not in _APART}
    apart = (given.get("action"), given.get("hook"), given.get("error"), given.get("data", {}))
    return Expectation(*apart, fields)
