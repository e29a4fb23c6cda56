"""amplifier events: every event, when it happens, what it carries, what an answer does."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NotRequired,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import click

from amplifier_core.events import (
    ALL_EVENTS,
    Effects,
    EventData,
    canonical,
    effects,
    is_notification,
    payload_type,
    spellings,
    stops,
)
from amplifier_hooks.cli.options import AS_JSON
from amplifier_hooks.guards.mcp.protocol import LIST

if TYPE_CHECKING:
    from amplifier_hooks.cli.text.fragments import Line


COMMON_FIELDS = {
    "session_id": "the session in which it happened",
    "timestamp": "when, in UTC, as ISO 8601",
    "parent_id": "in a sub-agent, the session that started it",
    "judged_again": "true if the hook is called again after a person was asked",
    "denied_by": "with session.run_all, the hook that has already denied it",
}
"""What every event carries besides its own fields."""

OF_MODULES = (LIST,)
"""Events that modules of ours tell; the kernel does not know them."""

# Events that share their type with another one, or are not told by every session.
_WHEN = {
    LIST: (
        "An MCP server has listed its tools, resources or prompts, or said how to use it; told by "
        "tool-mcp and by the gateway."
    ),
    "llm:request": "A provider of the ecosystem sends a request.",
    "llm:response": "A provider of the ecosystem received its response.",
}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an event's data."""

    name: str
    type: str
    required: bool
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class EventDescription:
    """What a person who writes a hook needs to know of an event."""

    name: str
    also: str
    when: str
    can_stop: bool
    fields: tuple[Field, ...]


def list_events() -> list[str]:
    """Every event once, in the order a session meets them; then those of modules."""
    return [*(event for event in ALL_EVENTS if canonical(event) == event), *OF_MODULES]


def describe_event(event: str) -> EventDescription:
    """The description of a known event."""
    payload = payload_type(event) or EventData
    name, *others = spellings(event)
    when = " ".join(inspect.cleandoc(payload.__doc__ or "").split("\n\n")[0].split())
    return EventDescription(
        name,
        ", ".join(others),
        _WHEN.get(name) or when.partition("; also ")[0].rstrip(".") + ".",
        not is_notification(event),
        tuple(_list_fields(payload)),
    )


def _list_fields(payload: type) -> Iterator[Field]:
    meanings = _read_meanings(payload)
    common = get_type_hints(EventData)
    for name, kind in get_type_hints(payload, include_extras=True).items():
        if name not in common:
            absent = get_origin(kind) is NotRequired
            type_ = write_type(get_args(kind)[0] if absent else kind)
            yield Field(name, type_, not absent, meanings.get(name, ""))


def write_type(kind: Any) -> str:
    """A type as it is written in Python."""
    if get_origin(kind) is Literal:
        return " | ".join(repr(one) for one in get_args(kind))
    if is_typeddict(kind):
        fields = _list_fields(kind)
        return f"{{{', '.join(f'{one.name}{_mark(one)}: {one.type}' for one in fields)}}}"
    if isinstance(kind, type) and not get_args(kind):
        return "None" if kind is type(None) else kind.__name__
    return str(kind).replace("typing.", "")


def _mark(field: Field) -> str:
    return "" if field.required else "?"


@cache
def _read_meanings(payload: type) -> dict[str, str]:
    """The sentences below the fields, which only the source has."""
    try:
        (body,) = ast.parse(dedent(inspect.getsource(payload))).body
    except (OSError, SyntaxError, TypeError, ValueError):
        return {}
    found: dict[str, str] = {}
    lines = body.body if isinstance(body, ast.ClassDef) else []
    for field, text in pairwise(lines):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            meaning = ast.literal_eval(text.value)
            found[ast.unparse(field.target)] = " ".join(str(meaning).split())
    return found


_EFFECTS = {
    **effects,
    LIST: Effects(
        "the list",
        denied="nothing of it reaches the model or the client",
        changed="the changed items and instructions take its place",
    ),
}
_LATER = "seen in the next request"
_NOTHING = "has no effect, which is said and recorded"
_ITS_MODULE = "whatever the module that emits it makes of that"
_HIDDEN = "seen by later hooks and the trail"
_GOES_ON = "the agent goes on, with the reason as its prompt, where it can: eight times in a row"


def describe_effects(event: str) -> dict[str, str]:
    """What happens for each action, the strongest first."""
    if not is_notification(event) and canonical(event) not in _EFFECTS:
        told = dict.fromkeys(("deny", "ask_user", "modify"), _ITS_MODULE)
        return {**told, "inject_context": f"{_LATER}, if there is one"}
    if is_notification(event):
        return {
            "deny": _GOES_ON if canonical(event) in stops else _NOTHING,
            "ask_user": f"{_NOTHING}; nobody is asked",
            "inject_context": f"{_LATER}, if there is one",
            "modify": _HIDDEN,
        }
    known = _EFFECTS[canonical(event)]
    return {
        "deny": known.denied,
        "ask_user": "a person decides; a refusal has the effect of deny",
        "inject_context": known.injected,
        "modify": known.changed,
    }


INTRODUCTION = """\
# Events

All events that hooks can receive, in the order in which a session emits them, and those of our
modules. `amplifier events` prints this list, and `amplifier events tool:pre` a single event. This
page is generated by `amplifier events --markdown`; a test keeps it up to date.

A hook registers for one event, or for a pattern such as `tool:*`. In a
[hook file](writing-hooks.md), a function named `on_tool_pre` receives `tool:pre`. Modules can
define their own events, such as `mcp:list`; in a hook file, a function marked `@hook("mcp:list")`
receives it. `amplifier hooks list --event tool:pre` shows which hooks listen to one, in order.

Every event has these fields in addition to its own. The registry sets them; hooks cannot change
them.

| field | |
|---|---|
"""
STOPPING = """
## Events that can be stopped or changed

These events come before something happens, or before its result is used. With `continue`, or
without an answer, the operation continues. If several hooks answer, the strongest action wins:
`deny`, `ask_user`, `inject_context`, `modify`, `continue`.

"""
TELLING = """
## Events for information only

`deny` and `ask_user` have no effect, which is said to the user, recorded as `answer_ignored` and
counted. But a `deny` at `orchestrator:complete` has the agent go on with the reason as its prompt,
in sessions of a bundle and in guarded agents, eight times in a row at most. What `modify` changes
is seen by later hooks and by the trail. The agent sees `inject_context` in the next request, if
there is one. Fields in parentheses may be absent.

| event | when | fields |
|---|---|---|
"""


def write_page() -> str:
    """The whole page."""
    found = [describe_event(event) for event in list_events()]
    stopping = "\n".join(_write_section(one) for one in found if one.can_stop)
    telling = "".join(_write_row(one) for one in found if not one.can_stop)
    common = "".join(f"| `{name}` | {meaning} |\n" for name, meaning in COMMON_FIELDS.items())
    return f"{INTRODUCTION}{common}{STOPPING}{stopping}{TELLING}{telling}"


def _write_section(event: EventDescription) -> str:
    also = f" Also written `{event.also}`." if event.also else ""
    effects = "".join(
        f"| `{action}` | {effect} |\n" for action, effect in describe_effects(event.name).items()
    )
    return (
        f"### {event.name}\n\n{event.when}{also}\n\n{''.join(_write_fields(event.fields))}\n"
        f"| answer | what it does |\n|---|---|\n{effects}"
    )


def _write_fields(fields: tuple[Field, ...]) -> Iterator[str]:
    yield "| field | type | |\n|---|---|---|\n"
    for one in fields:
        absent = "" if one.required else "may be absent"
        meaning = "; ".join(part for part in (absent, one.meaning.rstrip(".")) if part)
        yield f"| `{one.name}` | {_write_code(one.type)} | {meaning} |\n"


def _write_row(event: EventDescription) -> str:
    names = " or ".join(f"`{name}`" for name in (event.name, event.also) if name)
    fields = ", ".join(_write_field(one) for one in event.fields)
    return f"| {names} | {event.when} | {fields} |\n"


def _write_field(field: Field) -> str:
    text = f"`{field.name}`: {_write_code(field.type)}"
    return text if field.required else f"({text})"


def _write_code(text: str) -> str:
    """A type as code; a bar would end the cell."""
    return "`" + text.replace("|", "\\|") + "`"


EPILOG = """\b
Examples:
  amplifier events
  amplifier events tool:pre
  amplifier events 'tool:*'   all that match a pattern
"""


@click.command(epilog=EPILOG)
@click.argument("name", required=False)
@AS_JSON
@click.option("--markdown", is_flag=True, help="All of them, as a Markdown page.")
def events(name: str | None, as_json: bool, markdown: bool) -> None:
    """List the events, or show when NAME happens, its fields, and what each answer does."""

    if markdown:
        click.echo(write_page(), nl=False)
        return
    found = [describe_event(one) for one in _select(name)]
    if as_json:
        _print_json(found)
    elif name is None or "*" in name:
        _print_list(found)
    else:
        _print_event(found[0])


def _select(name: str | None) -> list[str]:
    """The events that a name or pattern stands for; a name that is none is wrong usage."""
    from fnmatch import fnmatchcase

    from amplifier_core.events import canonical, spellings
    from amplifier_core.utils.text import find_closest

    known = list_events()
    if name is None:
        return known
    matching = [one for one in known if any(fnmatchcase(each, name) for each in spellings(one))]
    if matching:
        return matching
    close = find_closest(name, [each for one in known for each in spellings(one)])
    hint = f"Did you mean {canonical(close)!r}?" if close else "amplifier events lists them."
    raise click.UsageError(f"Unknown event {name!r}. {hint}")


def _print_json(found: list[EventDescription]) -> None:
    import json
    from dataclasses import asdict

    facts = [{**asdict(one), "answers": describe_effects(one.name)} for one in found]
    click.echo(json.dumps(facts, indent=2))


def _print_list(found: list[EventDescription]) -> None:
    from amplifier_hooks.cli.text.output import print_line, print_wrapped
    from amplifier_hooks.cli.text.table import Column, print_table

    rows = [("!" if one.can_stop else "", one.name, one.when) for one in found]
    print_table(rows, Column("warn"), Column("tool"), Column())
    print_line("")
    print_wrapped(0, ("warn", "! "), "A hook can stop or change it; the others only inform.")
    print_wrapped(0, "Fields and answers of one event: ", ("tool", "amplifier events tool:pre"))


def _print_event(event: EventDescription) -> None:
    from amplifier_hooks.cli.text.output import print_heading, print_line, print_wrapped
    from amplifier_hooks.cli.text.table import Column, print_table

    also = f"  also {event.also}" if event.also else ""
    print_line(("title", event.name), ("dim", also))
    print_wrapped(2, event.when)
    print_heading("Fields")
    rows = [_make_row(one) for one in event.fields]
    print_table(rows, Column("key"), Column(), indent=2)
    print_wrapped(2, ("dim", "in every event: "), ("dim", ", ".join(COMMON_FIELDS)))
    print_heading("What an answer does")
    answers = [*describe_effects(event.name).items(), ("continue", "the operation continues")]
    print_table(answers, Column("tool"), Column(), indent=2)
    print_heading("In a hook file")
    function = "on_" + event.name.replace(":", "_")
    if event.name in OF_MODULES:  # found by its mark: such names are not known to the kernel
        print_wrapped(2, ("string", f"@hook({event.name!r})"))
    print_wrapped(2, ("string", f"async def {function}(event, data): ..."))


def _make_row(field: Field) -> tuple[str, Line]:
    absent = "" if field.required else "may be absent"
    remark = "; ".join(part for part in (absent, field.meaning.rstrip(".")) if part)
    return field.name, (("", field.type), ("dim", f"  {remark}" if remark else ""))
