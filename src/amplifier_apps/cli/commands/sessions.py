"""amplifier sessions: list, show, resume and delete what was saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from amplifier_apps.cli.options import AS_JSON

if TYPE_CHECKING:
    from amplifier_apps.cli.text.output import Part
    from amplifier_foundation.session.store import SessionInfo, SessionStore


@click.group(
    epilog="\b\nExamples:\n  amplifier sessions list\n  amplifier sessions show 3f2a\n"
    '  amplifier sessions resume "fix the parser"'
)
def sessions() -> None:
    """List, show, resume and delete saved sessions. A session is named by its id, the start of
    its id, or its name."""


@sessions.command("list")
@AS_JSON
@click.option("--limit", default=20, show_default=True, help="How many; 0 for all.")
def list_sessions(as_json: bool, limit: int) -> None:
    """List the saved sessions, newest first."""
    infos = _open_store().list()
    shown = infos[:limit] if limit > 0 else infos
    if as_json:
        import json

        click.echo(json.dumps([asdict(info) for info in shown], indent=2))
        return
    _print_list(shown, len(infos) - len(shown))


def _print_list(infos: list[SessionInfo], more: int) -> None:
    from amplifier_apps.cli.text.output import print_line
    from amplifier_apps.cli.text.table import Column, print_table

    if not infos:
        print_line("No saved sessions yet. Start one with: ", ("tool", "amplifier chat"))
        return
    about = Column("title", overflow="cut end")
    rows = [_make_row(info) for info in infos]
    print_table(rows, Column("tool"), Column("dim"), Column("dim"), Column("note"), about)
    if more:
        print_line(("dim", f"{more} more; --limit 0 shows all"))


def _make_row(info: SessionInfo) -> tuple[str, ...]:
    from amplifier_apps.cli.text.age import format_age
    from amplifier_apps.cli.text.escape import escape
    from amplifier_apps.cli.text.folder import shorten_folder

    about = f"damaged: {info.damaged}" if info.damaged else info.name or info.description or "–"
    turns = f"{info.turns} turn{'s' * (info.turns != 1)}"
    folder = escape(shorten_folder(info.working_dir)) if info.working_dir else "?"
    return escape(info.id[:12]), format_age(info.updated), turns, folder, escape(about)


@sessions.command()
@click.argument("session")
@click.option("--json", "as_json", is_flag=True, help="The whole saved state.")
def show(session: str, as_json: bool) -> None:
    """Show a session and its conversation."""
    from amplifier_apps.cli.text.escape import escape
    from amplifier_apps.cli.text.table import Column, print_table

    saved = _open_store().load(session)
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
    from amplifier_apps.cli.display.narration import join_blocks, summarize_call
    from amplifier_apps.cli.text.escape import make_readable
    from amplifier_apps.cli.text.output import print_line

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
    from amplifier_apps.cli.text.escape import get_first_line

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
    from amplifier_apps.cli.commands.chat import chat

    return ctx.invoke(chat, resume=session)


@sessions.command()
@click.argument("session", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(session: tuple[str, ...], yes: bool) -> None:
    """Delete sessions permanently."""
    from amplifier_apps.cli.text.escape import escape
    from amplifier_apps.cli.text.output import print_line

    store = _open_store()
    infos = [store.find(one) for one in session]
    for info in infos:
        label = escape(f"{info.id} {info.name}".strip())
        if yes or click.confirm(f"Delete {label}?", default=False):
            store.delete(info.id)
            print_line(("good", "✓ "), f"deleted {label}")


def _open_store() -> SessionStore:
    from amplifier_foundation.session.store import SessionStore

    return SessionStore()
