"""Checks of cases that look at several keys at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_type_hints

from amplifier_core.events import payload_type
from amplifier_core.utils.suggest import find_slip
from amplifier_hooks.insight.cases.schema import name_case
from amplifier_hooks.yaml_files.node import Node, Problem

_OF_A_STEP = ("event", "data", "expect", "times", "complete")


def find_contradictions(document: Node) -> Iterator[Problem]:
    """What is wrong with a file whose keys and values are all allowed."""
    keys = document.mapping()
    if "hook" in keys and "bundle" in keys:
        message = "a file names a hook or a bundle, not both"
        yield Problem(keys["bundle"].place, "bundle", message)
    for place, case in enumerate(keys["cases"].items()):
        label = name_case(case, place)
        yield from _check_case(case, label)
        if "bundle" in keys and "config" in case.mapping():
            message = "a bundle has the options of its modules itself; leave this out"
            yield Problem(case.mapping()["config"].place, f"{label}.config", message)
    if "bundle" in keys and "config" in keys:
        message = "a bundle has the options of its modules itself; leave this out"
        yield Problem(keys["config"].place, "config", message)
    yield from _find_same_names(keys["cases"])


def _check_case(case: Node, label: str) -> Iterator[Problem]:
    keys = case.mapping()
    if "steps" not in keys:
        if "event" not in keys:
            message = "is missing; a case has an event, or steps with one each"
            yield Problem(case.place, f"{label}.event", message)
        yield from _check_step(case, label)
        if "event" in keys and "expect" not in keys:
            message = "is missing; say what the hooks should answer, such as deny"
            yield Problem(case.place, f"{label}.expect", message)
        return
    for name in _OF_A_STEP:
        if name in keys:
            yield Problem(keys[name].place, f"{label}.{name}", "belongs into one of the steps")
    steps = keys["steps"].items()
    if not any("expect" in step.mapping() for step in steps):
        message = "at least one step must say what to expect"
        yield Problem(keys["steps"].place, f"{label}.steps", message)
    for place, step in enumerate(steps):
        yield from _check_step(step, f"{label}.steps[{place}]")


def _check_step(step: Node, label: str) -> Iterator[Problem]:
    """Find misspelt fields: the sample's value would be sent in place of what was meant."""
    event, data = step.text("event"), step.mapping().get("data")
    payload = None if event is None else payload_type(event)
    if payload is None or data is None:
        return
    known = get_type_hints(payload)
    for name, child in data.mapping().items():
        meant = None if name in known else find_slip(name, known)
        if meant is not None:
            message = f"{event} has no field {name!r}; did you mean {meant!r}?"
            yield Problem(child.place, f"{label}.data.{name}", message)


def _find_same_names(cases: Node) -> Iterator[Problem]:
    seen: dict[str, int | None] = {}
    for case in cases.items():
        name = case.text("name")
        if name is None:
            continue
        if name in seen:
            message = f"there is another case of this name in line {seen[name]}"
            yield Problem(case.mapping()["name"].place, f"case {name!r}.name", message)
        seen.setdefault(name, case.mapping()["name"].place.line)
