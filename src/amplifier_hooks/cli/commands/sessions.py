"""amplifier sessions: list, show, resume and delete what was saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from amplifier_hooks.agent.session.inspection.trails import (
    WHAT_CAN_BE_DONE,
    RecordedSession,
    Trail,
    describe_recorded,
    find_saved,
    list_names_beside,
    list_unsaved,
)
from amplifier_hooks.cli.options import AS_JSON, SELF_TESTS
from amplifier_hooks.coding_agents.known import TITLES

if TYPE_CHECKING:
    from amplifier_hooks.agent.session.saved_sessions import SessionInfo, SessionStore
    from amplifier_hooks.cli.text.output import Part


@click.group(
    epilog="\b\nExamples:\n  amplifier sessions list\n  amplifier sessions show 3f2a\n"
    '  amplifier sessions resume "fix the parser"'
)
def sessions() -> None:
    """List sessions; show, resume and delete those that are saved. A session is named by its id,
    the start of its id, or its name."""


@sessions.command("list")
@AS_JSON
@SELF_TESTS
@click.option("--limit", default=20, show_default=True, help="How many; 0 for all.")
def list_sessions(as_json: bool, self_tests: bool, limit: int) -> None:
    """List the sessions, newest first: those that are saved, and those of other agents and
    programs, which are recorded."""
    from amplifier_hooks.cli.commands.audit.options import report_unused_path

    report_unused_path()
    saved = _open_store().list()
    known = _merge(saved, list_unsaved({one.id for one in saved}, self_tests=self_tests))
    chosen = [_describe(one) for one in (known[:limit] if limit > 0 else known)]
    if as_json:
        import json

        click.echo(json.dumps([_to_json(one) for one in chosen], indent=2))
        return
    _print_list(chosen, [_get_id(one) for one in known])


def _merge(saved: list[SessionInfo], trails: list[Trail]) -> list[SessionInfo | Trail]:
    """All of them, the newest first."""
    return sorted([*saved, *trails], key=_find_time, reverse=True)


def _find_time(one: SessionInfo | Trail) -> float:
    from datetime import datetime

    if isinstance(one, Trail):
        return one.updated
    try:
        return datetime.fromisoformat(one.updated).timestamp()
    except ValueError:
        return 0.0


def _get_id(one: SessionInfo | Trail) -> str:
    return one.path.name if isinstance(one, Trail) else one.id


def _describe(one: SessionInfo | Trail) -> SessionInfo | RecordedSession:
    return describe_recorded(one, TITLES) if isinstance(one, Trail) else one


def _to_json(one: SessionInfo | RecordedSession) -> dict[str, Any]:
    return {**asdict(one), "saved": not isinstance(one, RecordedSession)}


def _print_list(chosen: list[SessionInfo | RecordedSession], known: list[str]) -> None:
    from amplifier_hooks.cli.text.output import print_line, print_wrapped
    from amplifier_hooks.cli.text.table import Column, print_table
    from amplifier_hooks.text.short_ids import shorten_ids

    if not chosen:
        print_line("No sessions yet. Start one with: ", ("tool", "amplifier chat"))
        return
    about = Column("title", overflow="cut end")
    shorts = shorten_ids((one.id for one in chosen), {*known, *list_names_beside(())})
    rows = [_make_row(one, shorts[one.id]) for one in chosen]
    print_table(rows, Column("tool"), Column("dim"), Column("dim"), Column("note"), about)
    if more := len(known) - len(chosen):
        print_line(("dim", f"{more} more; --limit 0 shows all"))
    if any(isinstance(one, RecordedSession) for one in chosen):
        print_wrapped(0, ("dim", f"recorded: {WHAT_CAN_BE_DONE}"))


def _make_row(one: SessionInfo | RecordedSession, short: str) -> tuple[str, ...]:
    from amplifier_hooks.cli.text.output import format_age, shorten_folder
    from amplifier_hooks.text.escape import escape

    folder = escape(shorten_folder(one.working_dir)) if one.working_dir else "?"
    if isinstance(one, RecordedSession):
        state = "recorded"
        about = "self-test" if one.self_test else one.kind or "a program"
    else:
        state = f"{one.turns} turn{'s' * (one.turns != 1)}"
        about = f"damaged: {one.damaged}" if one.damaged else one.name or one.description or "–"
    return escape(short), format_age(one.updated), state, folder, escape(about)


@sessions.command()
@click.argument("session")
@click.option("--json", "as_json", is_flag=True, help="The whole saved state.")
def show(session: str, as_json: bool) -> None:
    """Show a session and its conversation."""
    from amplifier_hooks.cli.text.table import Column, print_table
    from amplifier_hooks.text.escape import escape

    store = _open_store()
    saved = store.load(find_saved(store, session).id)
    if as_json:
        import json

        click.echo(json.dumps({"info": asdict(saved.info), "state": saved.state}, indent=2))
        return
    facts = asdict(saved.info)
    rows = [(key.replace("_", " "), escape(str(value))) for key, value in facts.items() if value]
    print_table(rows, Column("dim"), Column(overflow="cut end"))
    for message in get_messages(saved.state):
        _print_message(message)


def get_messages(state: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The conversation inside a saved state."""
    found = state.get("messages")
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _print_message(message: Mapping[str, Any]) -> None:
    from amplifier_hooks.cli.display.narration import join_blocks, summarize_call
    from amplifier_hooks.cli.text.output import print_line
    from amplifier_hooks.text.escape import make_readable

    role = str(message.get("role", "?"))
    styles = {"user": "title", "assistant": "note"}
    text = join_blocks(message.get("content"))
    if text:
        print_line("")
        print_line((styles.get(role, "dim"), make_readable(role)))
        print_line(*(_fold(text) if role in ("tool", "system") else [make_readable(text)]))
    for call in message.get("tool_calls") or []:
        if isinstance(call, Mapping):
            name = make_readable(str(call.get("name") or call.get("tool") or "?"))
            print_line(("tool", f"  ● {name}"), f"  {summarize_call(call.get('arguments'))}")


def _fold(text: str) -> list[Part]:
    """The first line, and how many are behind it."""
    from amplifier_hooks.text.escape import get_first_line

    more = text.strip().count("\n")
    return [
        get_first_line(text, 200),
        ("dim", f"  … {more} more line{'s' * (more != 1)}" * (more > 0)),
    ]


@sessions.command()
@click.argument("session")
@click.pass_context
def resume(ctx: click.Context, session: str) -> Any:
    """Continue a session; the same as `amplifier chat --resume`."""
    from amplifier_hooks.cli.commands.chat import chat

    return ctx.invoke(chat, resume=session)


@sessions.command()
@click.argument("session", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(session: tuple[str, ...], yes: bool) -> None:
    """Delete sessions permanently."""
    from amplifier_hooks.cli.person import confirm
    from amplifier_hooks.cli.text.output import print_line
    from amplifier_hooks.text.escape import escape

    store = _open_store()
    infos = [find_saved(store, one) for one in session]
    for info in infos:
        label = escape(f"{info.id} {info.name}".strip())
        if yes or confirm(f"Delete {label}?", "--yes"):
            store.delete(info.id)
            print_line(("good", "✓ "), f"deleted {label}")


def _open_store() -> SessionStore:
    from amplifier_hooks.agent.session.saved_sessions import SessionStore

    return SessionStore()
