"""The form of a file with cases: which keys there are, what they may hold, and what they say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated, Any, get_args, get_type_hints

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError, core_schema

from amplifier_core.event_names import KNOWN, find_problem
from amplifier_core.events import payload_type
from amplifier_core.models import Action, Decision, Level, Role
from amplifier_core.mount_plan.schema import PositiveCount, Seconds, Section, Text, optional
from amplifier_core.utils.text import find_slip, suggest
from amplifier_hooks.yaml_files.checking import OWN_USE, Location, find_mistakes, name_key
from amplifier_hooks.yaml_files.node import Node, Problem

ACTIONS = get_args(Action)


def find_pattern(value: object) -> str | None:
    """The regular expression in a text such as `/rm +-r/`; None for a plain text."""
    if isinstance(value, str) and len(value) > 2 and value[0] == value[-1] == "/":
        return value[1:-1]
    return None


def _refuse(message: str) -> PydanticCustomError:
    return PydanticCustomError("case", "{message}", {"message": message})


def _check_expected_text(value: str) -> str:
    if (pattern := find_pattern(value)) is not None:
        try:
            re.compile(pattern)
        except re.error as error:
            raise _refuse(f"{value} is not a regular expression: {error}") from error
    return value


def _check_event(name: str) -> str:
    if "*" in name:
        raise _refuse(f"must be one event, such as tool:pre, not {name!r}")
    if problem := find_problem(name):
        raise _refuse(problem)
    return name


def _check_list(value: object) -> object:
    if not isinstance(value, list):
        raise PydanticCustomError("expected", "must be {expected}", {"expected": "a list of cases"})
    return value


def _check_path(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or PureWindowsPath(name).drive:
        raise _refuse(f"must be a path inside the folder of the case, got {name!r}")
    return name


ExpectedText = Annotated[
    Annotated[Text, AfterValidator(_check_expected_text)] | None,
    WithJsonSchema({"type": ["string", "null"]}),
]
"""A part of a text, a regular expression between slashes, or null for no text."""

_OWN_EVENT = {"type": "string", "pattern": r"^[^*]+:[^*]+$"}
EventName = Annotated[
    Text,
    AfterValidator(_check_event),
    WithJsonSchema({"anyOf": [{"enum": sorted(KNOWN)}, _OWN_EVENT]}),
]
"""The name of an event: a known one, or one of a module's own; not a pattern."""

OwnPath = Annotated[str, AfterValidator(_check_path)]
"""A path that stays inside the folder of a case."""


class Answer(Section):
    """What is expected of an answer; what is not named may be anything."""

    action: Action = optional("What the hooks decide.")
    hook: Text = optional("The hook whose answer decides.")
    error: ExpectedText = optional("A part of the error of a hook that should fail.")
    data: dict[str, Any] = optional("Fields of the event after the hooks. A name may be a path.")
    reason: ExpectedText = optional("A part of the reason.")
    context_injection: ExpectedText = optional("A part of what is injected.")
    approval_prompt: ExpectedText = optional("A part of the question.")
    user_message: ExpectedText = optional("A part of what the person is told.")
    approval_options: list[Text] | None = optional("What the person may answer.")
    approval_timeout: Seconds = optional("Seconds that the question waits.")
    approval_default: Decision = optional("What holds if nobody answers.")
    context_injection_role: Role = optional("In whose name it is injected.")
    ephemeral: bool = optional("Whether the injection is for the next request only.")
    append_to_last_tool_result: bool = optional("Whether it is injected behind the last result.")
    suppress_output: bool = optional("Whether what the hook printed is hidden.")
    user_message_level: Level = optional("How serious what the person is told is.")
    user_message_source: Text | None = optional("Who the person is told it is from.")


class _OrAction:
    """An answer for which its action may stand alone."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_wrap_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [{"enum": list(ACTIONS)}, handler(schema)]}

    def _check(self, value: Any, check: Callable[[Any], Answer]) -> Any:
        if value in ACTIONS:
            return value
        if isinstance(value, str):
            raise _refuse(f"unknown value {value!r}; {suggest(value, ACTIONS)}")
        if not isinstance(value, dict):
            expected = f"one of {', '.join(ACTIONS)}, or a mapping"
            raise PydanticCustomError("expected", "must be {expected}", {"expected": expected})
        if not value:
            raise _refuse("must not be empty; name an action, such as deny")
        return check(value)


class Step(Section):
    """One event that is sent, and what the hooks should answer."""

    event: EventName = Field(description="The event to send, such as tool:pre.")
    data: dict[str, Any] = optional("Fields of the event.")
    expect: Annotated[Answer, _OrAction()] = optional(
        "The action, or a mapping with what is expected of the answer."
    )
    times: PositiveCount = optional("How often the event is sent.")
    complete: bool = optional(
        "false: send exactly these data, without samples of the other fields."
    )


class Case(Step):
    """One event, or several in order."""

    event: EventName = optional("The event to send, such as tool:pre.")
    name: Text = optional("What the case is called.")
    config: dict[str, Any] = optional("Options of the module.")
    files: dict[OwnPath, str] = optional(
        "Text files by path; the case runs in a new folder that contains them."
    )
    steps: list[Step] = optional("Several events, in order.")


class File(Section):
    """A file with cases."""

    model_config = ConfigDict(json_schema_extra={"patternProperties": {f"^{OWN_USE}": {}}})

    hook: Text = optional(
        "The hook file, the folder of a package, or the id of a module; paths from this file."
    )
    bundle: Text = optional("A bundle whose hooks are tested together.")
    config: dict[str, Any] = optional("Options of the module.")
    timeout: Seconds = optional("Seconds that the hooks may take for one event.")
    cases: Annotated[list[Case], Field(min_length=1), BeforeValidator(_check_list)] = Field(
        description="Events, and what the hooks should answer."
    )


def find_problems(document: Node) -> Iterator[Problem]:
    """Everything that is wrong with the keys and values of a file with cases."""
    return find_mistakes(document, File, partial(_name_key, document))


def _name_key(document: Node, location: Location) -> str:
    match location:
        case ("cases", int(place), *rest):
            case = document.mapping()["cases"].items()[place]
            return name_key((name_case(case, place), *rest))
    return name_key(location)


def name_case(node: Node, place: int) -> str:
    """What messages call a case."""
    name = node.text("name")
    return f"case {place + 1}" if name is None else f"case {name!r}"


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
    event = step.text("event")
    data = step.mapping().get("data")
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
