"""amplifier hooks: which hooks run, in which order, and what they answer."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_core.event_names import find_problem
from amplifier_core.utils.text import differs_by_one
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.hooks.testing import load_material, try_hooks
from amplifier_hooks.cli.lazy_group import adopt
from amplifier_hooks.cli.options import AS_JSON, BUNDLE, parse_json_object
from amplifier_hooks.guards.policy.tool_calls import TOOLS

if TYPE_CHECKING:
    from amplifier_hooks.agent.session.inspection.effective_hooks import EffectiveHooks, HookRow
    from amplifier_hooks.agent.trust.material import Material

_MOST_TRAILS = 20


async def list_shortcomings(found: EffectiveHooks) -> list[str]:
    """A sentence for each, for people."""
    return [*found.list_advice(), *await _list_waiting(found)]


async def _list_waiting(found: EffectiveHooks) -> list[str]:
    """Hooks that wait for an event nobody is known to emit."""
    undeclared = await found.find_undeclared()
    if not undeclared:
        return []
    heard = found.registry.list_handlers()
    others = {hook for event, hooks in heard.items() if event not in undeclared for hook in hooks}
    alone = {event: set(hooks) - others for event, hooks in undeclared.items()}
    emitted = await asyncio.to_thread(_find_emitted, alone)
    return [
        _explain(event, ", ".join(hooks))
        for event, hooks in sorted(undeclared.items())
        if event not in emitted
    ]


def _explain(event: str, hooks: str) -> str:
    if problem := find_problem(event):
        return f"{hooks} may never run: {problem}"
    return f"{event}: nobody has declared or emitted it; {hooks} may never run"


def _find_emitted(events: dict[str, set[str]]) -> set[str]:
    """In the newest trails of this folder."""
    from amplifier_hooks.agent.session.inspection.trails import select_trails
    from amplifier_hooks.trails.reading import find_emitted

    return find_emitted(events, reversed(select_trails()[-_MOST_TRAILS:]))


def print_shortcomings(shortcomings: list[str]) -> None:
    """Below a list of hooks; nothing where there is none."""
    from amplifier_hooks.cli.text.output import print_line, print_wrapped
    from amplifier_hooks.text.escape import escape

    if shortcomings:
        print_line("")
    for one in shortcomings:
        print_wrapped(0, ("warn", "! "), escape(one))


def find_meant_tool(name: str) -> str | None:
    """The tool that a name nearly is; None for a tool of ours and for a name of its own."""
    if name in TOOLS:
        return None
    lowered = name.lower()
    return next((one for one in sorted(TOOLS) if differs_by_one(lowered, one.lower())), None)


EPILOG = """\b
Examples:
  amplifier hooks list --event tool:pre
  amplifier hooks trace "delete the old logs"
  amplifier hooks trace --tool Bash --input '{"command": "rm -rf build"}'
  amplifier hooks trace --event session:start
  amplifier hooks test hooks/first_hook.py
"""

_BUILT_IN = "amplifier_hooks."
_FEW_EVENTS = 2


class HooksGroup(click.Group):
    """Imports the commands that look back at trails when one of them is wanted."""

    elsewhere = ("backtest", "stats")

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *self.elsewhere])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.elsewhere:
            return super().get_command(ctx, cmd_name)
        return adopt(getattr(import_module(f"{__name__}.{cmd_name}"), cmd_name))


@click.group(cls=HooksGroup, epilog=EPILOG)
def hooks() -> None:
    """See which hooks run, in which order, and what they answer."""


hooks.add_command(try_hooks)


@hooks.command("list")
@click.option("--event", help="Only this event, such as tool:pre.")
@BUNDLE
@AS_JSON
def list_hooks(event: str | None, bundle: Path | None, as_json: bool) -> int:
    """Show the hooks, yours first; with --event, their order, priorities and time limits."""
    _refuse_slip(event)
    return asyncio.run(_list(event, bundle, as_json))


async def _list(event: str | None, path: Path | None, as_json: bool) -> int:
    from amplifier_hooks.agent.session.inspection.effective_hooks import mount_hooks

    material, refusal = await load_material(path)
    if refusal:
        return _list_unread(material, refusal, as_json)
    async with mount_hooks(material) as found:
        rows = [row for one in _select_events(event, found) for row in found.list_rows(one)]
        shortcomings = await list_shortcomings(found)
        if as_json:
            facts = {"hooks": [asdict(row) for row in rows], "failures": found.failures}
            click.echo(json.dumps({**facts, "shortcomings": shortcomings}, indent=2))
        else:
            _print_rows(rows, event) if event else _print_hooks(rows)
            _print_failures(found)
            print_shortcomings(shortcomings)
        return _choose_exit_code(found)


def _list_unread(material: Material, refusal: str, as_json: bool) -> int:
    """What the bundle names, without running any of it."""
    from amplifier_core.mount_plan import MountPlan
    from amplifier_hooks.cli.text.output import print_line, print_wrapped
    from amplifier_hooks.cli.text.table import Column, print_table
    from amplifier_hooks.text.escape import escape

    entries = MountPlan.parse(material.bundle.mount_plan).hooks
    if as_json:
        named = [{"module": one.module, "source": one.source} for one in entries]
        click.echo(json.dumps({"untrusted": refusal, "modules": named}, indent=2))
        return exit_codes.CONFIGURATION
    rows = [(escape(one.module), escape(one.source or "installed")) for one in entries]
    print_table(rows, Column("tool"), Column("dim", overflow="cut start"), indent=2)
    print_line("")
    print_wrapped(0, ("bad", "✗ "), f"Nothing of this was run. {escape(refusal)}")
    return exit_codes.CONFIGURATION


def _select_events(event: str | None, found: EffectiveHooks) -> list[str]:
    from amplifier_core.events import canonical

    return [canonical(event)] if event else found.list_events()


def _refuse_slip(event: str | None) -> None:
    """Refuse an event that means a known one: of that, nothing would have been said."""
    from amplifier_core.event_names import find_meant

    if event and (meant := find_meant(event)):
        raise click.UsageError(f"No event {event!r}. Did you mean {meant!r}?")


def _print_hooks(rows: list[HookRow]) -> None:
    """Each hook once, with what it listens to: those of the person first, then ours."""
    from amplifier_hooks.cli.text.output import print_heading, print_line, print_wrapped
    from amplifier_hooks.cli.text.table import Column, Table

    if not rows:
        print_line("No hook listens to anything.")
        return
    listed: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        events = listed.setdefault(_make_cells(row)[2:], [])
        if row.event not in events:
            events.append(row.event)
    cells = [(*about[:3], _join_events(events), about[3]) for about, events in listed.items()]
    built_in = [cell for cell in cells if cell[-1].startswith(_BUILT_IN)]
    yours = [cell for cell in cells if cell not in built_in]
    columns = (Column("tool"), Column(), Column(), Column(), Column("dim", overflow="cut start"))
    table = Table(columns, indent=2).fit(cells)
    for title, part in (("Yours", yours), ("Built in", built_in)):
        if part:
            print_heading(title)
            table.print(part)
    _print_overrides(rows)
    print_line("")
    print_wrapped(0, ("dim", "The order at one event: amplifier hooks list --event tool:pre"))


def _join_events(events: list[str]) -> str:
    from amplifier_hooks.text.escape import escape

    return escape(", ".join(events)) if len(events) <= _FEW_EVENTS else f"{len(events)} events"


def _print_rows(rows: list[HookRow], event: str) -> None:
    from amplifier_hooks.cli.text.output import print_heading, print_line
    from amplifier_hooks.cli.text.table import Column, print_table
    from amplifier_hooks.text.escape import escape

    if not rows:
        print_line(f"No hook listens to {escape(event)}.")
    source = Column("dim", overflow="cut start")
    columns = (Column("dim"), Column(), Column("tool"), Column(), Column(), source)
    for name in dict.fromkeys(row.event for row in rows):
        print_heading(escape(name))
        own = [row for row in rows if row.event == name]
        print_table([_make_cells(row) for row in own], *columns, indent=2)
        _print_overrides(own)


def _print_overrides(rows: list[HookRow]) -> None:
    """Say which priorities are the bundle's: whoever reads only the file would not know."""
    from amplifier_hooks.cli.text.output import print_wrapped
    from amplifier_hooks.text.escape import escape

    for row in {(one.hook, one.priority): one for one in rows}.values():
        if row.priority != row.own_priority:
            text = f"the bundle's priority {row.priority} replaces its own, {row.own_priority}"
            print_wrapped(6, ("dim", f"{escape(row.hook)}: {text}"))


def _make_cells(row: HookRow) -> tuple[str, ...]:
    from amplifier_hooks.text.escape import escape

    pattern = "" if row.registered_for == row.event else f" (as {row.registered_for})"
    return (
        f"{row.order}.",
        str(row.priority),
        escape(row.hook),
        _name_kind(row),
        "no limit" if row.timeout is None else f"{row.timeout:g} s",
        escape(row.source + pattern),
    )


def _name_kind(row: HookRow) -> str:
    if row.shadow:
        return "shadow"
    return "guard" if row.on_error == "deny" else "observer"


def _print_failures(found: EffectiveHooks) -> None:
    from amplifier_hooks.cli.text.output import print_line
    from amplifier_hooks.text.escape import escape

    for failure in found.failures:
        print_line("")
        print_line(("bad", "✗ "), escape(failure))


def _print_unknown_tool(tool: Any) -> None:
    """Say so where a tool is nearly called like one of ours: hooks may not take it for that."""
    from amplifier_hooks.cli.text.output import print_line, print_wrapped

    if isinstance(tool, str) and (meant := find_meant_tool(tool)):
        text = f"There is no tool {tool!r} here; did you mean {meant!r}? "
        print_line("")
        print_wrapped(0, ("warn", "! "), f"{text}Hooks that look for {meant!r} may miss this call.")


def _choose_exit_code(found: EffectiveHooks) -> int:
    return exit_codes.CONFIGURATION if found.failures else exit_codes.DONE


@hooks.command()
@click.argument("prompt", required=False)
@click.option("--event", help="The event to send; prompt:submit for a prompt, tool:pre for a tool.")
@click.option("--tool", help="A tool's name, for tool:pre and tool:post.")
@click.option("--input", "tool_input", help="Its input, as JSON.")
@click.option("--data", help="More fields of the event, as JSON.")
@BUNDLE
@AS_JSON
def trace(
    prompt: str | None,
    event: str | None,
    tool: str | None,
    tool_input: str | None,
    data: str | None,
    bundle: Path | None,
    as_json: bool,
) -> int:
    """Send one prompt or event through the hooks, and show each answer and the result.

    The hooks really run, but their answers are not carried out: no tool runs, nobody is asked.
    """
    if event:
        name = event
    elif tool:
        name = "tool:pre"
    elif prompt:
        name = "prompt:submit"
    else:
        raise click.UsageError("Give a prompt, --tool with --input, or --event")
    _refuse_slip(event)
    given: dict[str, Any] = {} if prompt is None else {"prompt": prompt}
    given |= {} if tool is None else {"tool_name": tool}
    given |= {} if tool_input is None else {"tool_input": parse_json_object(tool_input, "--input")}
    given |= parse_json_object(data, "--data") if data else {}
    return asyncio.run(_trace(name, given, bundle, as_json))


async def _trace(event: str, given: dict[str, Any], path: Path | None, as_json: bool) -> int:
    from amplifier_core.validation.hook import sample_payload
    from amplifier_hooks.agent.session.inspection.effective_hooks import mount_hooks
    from amplifier_hooks.agent.trust.material import Untrusted
    from amplifier_hooks.cli.commands.hooks.trace_text import print_trace, trace_to_dict

    material, refusal = await load_material(path)
    if refusal:
        raise Untrusted(refusal)
    async with mount_hooks(material) as found:
        sent = {**sample_payload(event), **given}
        sent.pop("timestamp", None)
        run, watch = await found.trace(event, sent)
        if as_json:
            click.echo(json.dumps(trace_to_dict(run, watch), indent=2, default=str))
        else:
            print_trace(run, watch, sent)
            _print_unknown_tool(given.get("tool_name"))
            _print_failures(found)
        return _choose_exit_code(found)
