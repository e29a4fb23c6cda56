"""amplifier sessions: list, show, resume and delete what was saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from amplifier_foundation.session.store import SessionInfo, SessionStore


@click.group(
    epilog="\b\nExamples:\n  amplifier sessions list\n  amplifier sessions show 3f2a\n"
    '  amplifier sessions resume "fix the parser"'
)
def sessions() -> None:
    """List, show, resume and delete saved sessions. A session is named by its id, the start of
    its id, or its name."""


@sessions.command("list")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
@click.option("--limit", default=20, show_default=True, help="How many; 0 for all.")
def list_sessions(as_json: bool, limit: int) -> None:
    """The saved sessions, the latest first."""
    infos = _store().list()
    shown = infos[:limit] if limit > 0 else infos
    if as_json:
        import json

        click.echo(json.dumps([asdict(info) for info in shown], indent=2))
        return
    _print_list(shown, len(infos) - len(shown))


def _print_list(infos: list[SessionInfo], more: int) -> None:
    from amplifier_apps.cli.text import paper

    if not infos:
        paper.say("No saved sessions yet. Start one with: ", ("tool", "amplifier chat"))
        return
    paper.table([_row(info) for info in infos], ("tool", "dim", "dim", "title"))
    if more:
        paper.say(("dim", f"{more} more; --limit 0 shows all"))


def _row(info: SessionInfo) -> tuple[str, str, str, str]:
    from amplifier_apps.cli.text.escape import escape

    about = f"damaged: {info.damaged}" if info.damaged else info.name or info.description or "–"
    turns = f"{info.turns} turn{'s' * (info.turns != 1)}"
    return escape(info.id[:12]), ago(info.updated), turns, escape(about)


def ago(when: str, now: datetime | None = None) -> str:
    """How long ago, in one word or two."""
    try:
        passed = (now or datetime.now(UTC)) - datetime.fromisoformat(when)
    except ValueError:
        return "?"
    seconds = int(passed.total_seconds())
    for size, word in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {word} ago"
    return "just now"


@sessions.command()
@click.argument("session")
@click.option("--json", "as_json", is_flag=True, help="The whole saved state.")
def show(session: str, as_json: bool) -> None:
    """What a session is about, and its conversation."""
    from amplifier_apps.cli.text import paper
    from amplifier_apps.cli.text.escape import escape

    saved = _store().load(session)
    if as_json:
        import json

        click.echo(json.dumps({"info": asdict(saved.info), "state": saved.state}, indent=2))
        return
    facts = asdict(saved.info)
    rows = [(key.replace("_", " "), escape(str(value))) for key, value in facts.items() if value]
    paper.table(rows, ("dim",))
    for message in messages_of(saved.state):
        _print_message(message)


def messages_of(state: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The conversation inside a saved state."""
    found = state.get("messages")
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _print_message(message: Mapping[str, Any]) -> None:
    from amplifier_apps.cli.display.narration import call_summary, readable
    from amplifier_apps.cli.text import paper

    role = str(message.get("role", "?"))
    styles = {"user": "title", "assistant": "note"}
    content = message.get("content")
    text = content if isinstance(content, str) else _text_in(content)
    if text:
        paper.say("")
        paper.say((styles.get(role, "dim"), readable(role)))
        paper.say(*(_folded(text) if role in ("tool", "system") else [readable(text)]))
    for call in message.get("tool_calls") or []:
        if isinstance(call, Mapping):
            name = readable(str(call.get("name", "?")))
            paper.say(("tool", f"  ● {name}"), f"  {call_summary(call.get('arguments'))}")


def _folded(text: str) -> list[str | tuple[str, str]]:
    """The first line, and how many are behind it."""
    from amplifier_apps.cli.display.narration import first_line

    more = text.strip().count("\n")
    return [first_line(text, 200), ("dim", f"  … {more} more line{'s' * (more != 1)}" * (more > 0))]


def _text_in(content: Any) -> str:
    if not isinstance(content, list):
        return ""
    return "".join(str(block.get("text", "")) for block in content if isinstance(block, Mapping))


@sessions.command()
@click.argument("session")
@click.pass_context
def resume(ctx: click.Context, session: str) -> Any:
    """Go on with a session: the same as `amplifier chat --resume`."""
    from amplifier_apps.cli.commands.chat import chat

    return ctx.invoke(chat, resume=session)


@sessions.command()
@click.argument("session", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(session: tuple[str, ...], yes: bool) -> None:
    """Delete sessions for good."""
    from amplifier_apps.cli.text import paper
    from amplifier_apps.cli.text.escape import escape

    store = _store()
    infos = [store.find(one) for one in session]
    for info in infos:
        label = escape(f"{info.id} {info.name}".strip())
        if yes or click.confirm(f"Delete {label}?", default=False):
            store.delete(info.id)
            paper.say(("good", "✓ "), f"deleted {label}")


def _store() -> SessionStore:
    from amplifier_foundation.session.store import SessionStore

    return SessionStore()
