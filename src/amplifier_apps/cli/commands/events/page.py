"""The page on events in the documentation, written from the same facts as the command's output."""

from __future__ import annotations

from collections.abc import Iterator

from amplifier_apps.cli.commands.events.description import (
    COMMON_FIELDS,
    EventDescription,
    Field,
    describe_event,
    list_events,
)
from amplifier_apps.cli.commands.events.effects import describe_effects

INTRODUCTION = """\
# Events

Every event that a hook can be told of, in the order a session meets them. `amplifier events`
prints this list, `amplifier events tool:pre` one of them. The page is written from the code, by
`amplifier events --markdown`, and a test compares the two.

A hook registers for one name, or for a pattern such as `tool:*`. In a [hook file](writing-hooks.md)
a function named `on_tool_pre` is told of `tool:pre`. Modules may have events of their own:
`amplifier hooks list` shows who listens to what.

Every event carries these fields besides its own. The registry sets them; no hook can change them.

| field | |
|---|---|
"""
STOPPING = """
## Events that can be stopped or changed

They come before something happens, or before its result is used. With `continue`, or without an
answer, it goes on. If several hooks answer, the strongest action wins: `deny`, `ask_user`,
`inject_context`, `modify`, `continue`.

"""
TELLING = """
## Events that only tell

`deny`, `modify` and `ask_user` are recorded, without effect; `inject_context` is seen in the next
request, if there is one. Fields in parentheses may be absent.

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
