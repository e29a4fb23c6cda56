"""amplifier events: every event, when it happens, what it carries, what an answer does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from amplifier_hooks.cli.options import AS_JSON

if TYPE_CHECKING:
    from amplifier_hooks.cli.commands.events.description import EventDescription, Field
    from amplifier_hooks.cli.text.fragments import Line

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
    from amplifier_hooks.cli.commands.events.description import describe_event
    from amplifier_hooks.cli.commands.events.page import write_page

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
    from amplifier_core.utils.suggest import find_closest
    from amplifier_hooks.cli.commands.events.description import list_events

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

    from amplifier_hooks.cli.commands.events.effects import describe_effects

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
    from amplifier_hooks.cli.commands.events.description import COMMON_FIELDS, OF_MODULES
    from amplifier_hooks.cli.commands.events.effects import describe_effects
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
