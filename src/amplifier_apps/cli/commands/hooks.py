"""amplifier hooks: which hooks run, in which order, and what they answer."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from amplifier_apps.cli.commands.effective_hooks import EffectiveHooks, HookRow, Stopwatch
    from amplifier_core.dispatch import Answer, Dispatch
    from amplifier_core.models import HookResult

BUNDLE = click.option(
    "--bundle",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A bundle file instead of ./amplifier.yaml.",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="For machines.")

STYLES = {"deny": "bad", "ask_user": "warn", "modify": "note", "inject_context": "note"}

EPILOG = """\b
Examples:
  amplifier hooks list --event tool:pre
  amplifier hooks trace "delete the old logs"
  amplifier hooks trace --tool Bash --input '{"command": "rm -rf build"}'
  amplifier hooks trace --event session:start
"""


@click.group(epilog=EPILOG)
def hooks() -> None:
    """See which hooks run, in which order, and what they answer."""


@hooks.command("list")
@click.option("--event", help="Only this event, such as tool:pre.")
@BUNDLE
@AS_JSON
def list_hooks(event: str | None, bundle: Path | None, as_json: bool) -> int:
    """The effective order per event: priority, hook, what its failure means, its limit, source."""
    return asyncio.run(_list(event, bundle, as_json))


async def _list(event: str | None, path: Path | None, as_json: bool) -> int:
    from amplifier_apps.cli.commands.effective_hooks import mounted_hooks

    async with mounted_hooks(await _load(path), Path.cwd()) as found:
        rows = [row for one in _wanted(event, found) for row in found.rows(one)]
        if as_json:
            told = {"hooks": [asdict(row) for row in rows], "failures": found.failures}
            click.echo(json.dumps(told, indent=2))
        else:
            _print_rows(rows, event)
            _print_failures(found)
        return 3 if found.failures else 0


async def _load(path: Path | None) -> Any:
    from amplifier_foundation.bundles import load_bundle

    return await asyncio.to_thread(load_bundle, path)


def _wanted(event: str | None, found: EffectiveHooks) -> list[str]:
    from amplifier_core.events import canonical

    return [canonical(event)] if event else found.events()


def _print_rows(rows: list[HookRow], event: str | None) -> None:
    from amplifier_apps.cli.text import paper
    from amplifier_apps.cli.text.escape import escape

    if not rows:
        paper.say(f"No hook listens to {escape(event or 'anything')}.")
    for name in dict.fromkeys(row.event for row in rows):
        paper.heading(escape(name))
        cells = [_cells(row) for row in rows if row.event == name]
        paper.table(cells, _ROW_STYLES, indent=2, keep_end=True)


_ROW_STYLES = ("dim", "", "tool", "", "", "dim")


def _cells(row: HookRow) -> tuple[str, ...]:
    from amplifier_apps.cli.text.escape import escape

    failing = "guard" if row.on_error == "deny" else "observer"
    limit = "no limit" if row.timeout is None else f"{row.timeout:g} s"
    pattern = "" if row.registered_for == row.event else f" (as {row.registered_for})"
    return (
        f"{row.order}.",
        str(row.priority),
        escape(row.hook),
        failing,
        limit,
        escape(row.source + pattern),
    )


def _print_failures(found: EffectiveHooks) -> None:
    from amplifier_apps.cli.text import paper
    from amplifier_apps.cli.text.escape import escape

    for failure in found.failures:
        paper.say("")
        paper.say(("bad", "✗ "), escape(failure))


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
    """Send one prompt or one event through the hooks; show each answer, its time, and the fold.

    The hooks really run. Nothing they answer is carried out: no tool runs, nobody is asked.
    """
    name = event or ("tool:pre" if tool else "prompt:submit" if prompt else None)
    if name is None:
        raise click.UsageError("Give a prompt, or --tool with --input, or --event")
    given: dict[str, Any] = {} if prompt is None else {"prompt": prompt}
    given |= {} if tool is None else {"tool_name": tool}
    given |= {} if tool_input is None else {"tool_input": parsed_object(tool_input, "--input")}
    given |= parsed_object(data, "--data") if data else {}
    return asyncio.run(_trace(name, given, bundle, as_json))


def parsed_object(text: str, option: str) -> dict[str, Any]:
    """A JSON object given on the command line."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise click.UsageError(f"{option} is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise click.UsageError(f"{option} must be a JSON object, got {type(value).__name__}")
    return value


async def _trace(event: str, given: dict[str, Any], path: Path | None, as_json: bool) -> int:
    from amplifier_apps.cli.commands.effective_hooks import mounted_hooks
    from amplifier_core.validation.samples import sample_payload

    async with mounted_hooks(await _load(path), Path.cwd()) as found:
        sent = {**sample_payload(event), **given}
        sent.pop("timestamp", None)
        run, watch = await found.trace(event, sent)
        if as_json:
            click.echo(json.dumps(_as_dict(run, watch), indent=2, default=str))
        else:
            _print_trace(run, watch, sent)
            _print_failures(found)
        return 3 if found.failures else 0


def _as_dict(run: Dispatch, watch: Stopwatch) -> dict[str, Any]:
    answers = [
        {
            "hook": answer.hook,
            "ms": _milliseconds(answer, watch),
            "error": None if answer.error is None else repr(answer.error),
            **answer.result.model_dump(exclude_defaults=True),
            "action": answer.result.action,
        }
        for answer in run.answers
    ]
    skipped = [handler.name for _, _, handler in run.plan[run.ran :]]
    fold = run.fold().model_dump(exclude_defaults=True)
    return {"event": run.event, "answers": answers, "not_reached": skipped, "fold": fold}


def _milliseconds(answer: Answer, watch: Stopwatch) -> float:
    return round(watch.seconds.get(answer.handler.id, 0.0) * 1000, 3)


def _print_trace(run: Dispatch, watch: Stopwatch, sent: dict[str, Any]) -> None:
    from amplifier_apps.cli.text import paper
    from amplifier_apps.cli.text.escape import escape

    paper.heading(escape(run.event))
    for order, answer in enumerate(run.answers, 1):
        action = answer.result.action
        paper.say(
            f"  {order:>2}. ",
            ("tool", f"{escape(answer.hook):<28} "),
            (STYLES.get(action, "dim"), f"{action:<15}"),
            ("dim", f"{_milliseconds(answer, watch):8.2f} ms"),
        )
        _print_details(answer)
    for _, _, handler in run.plan[run.ran :]:
        paper.say(("dim", f"      {escape(handler.name):<28} not reached: the chain was stopped"))
    if not run.plan:
        paper.say(("dim", "  no hook listens"))
    _print_fold(run.fold(), sent)


def _print_details(answer: Answer) -> None:
    from amplifier_apps.cli.display.narration import readable
    from amplifier_apps.cli.text import paper

    if answer.error is not None:
        text = f"failed: {type(answer.error).__name__}: {answer.error}"
        paper.wrapped(7, ("bad", readable(text)))
    for label, text in _details(answer.result):
        for line in readable(text).split("\n"):
            paper.wrapped(7, ("dim", f"{label}: "), line)


def _details(result: HookResult) -> list[tuple[str, str]]:
    told = [
        ("reason", result.reason),
        ("asks", result.approval_prompt),
        ("options", ", ".join(result.approval_options or [])),
        ("injects", result.context_injection),
        ("says", result.user_message),
    ]
    return [(label, text) for label, text in told if text]


def _print_fold(fold: HookResult, sent: dict[str, Any]) -> None:
    from amplifier_apps.cli.display.narration import readable
    from amplifier_apps.cli.text import paper

    paper.say("")
    decided = (STYLES.get(fold.action, "good"), fold.action)
    paper.wrapped(2, "⇒ ", decided, f"  {_meaning(fold)}")
    for key, value in (fold.data or {}).items():
        if key in sent and sent[key] != value:
            changed = readable(json.dumps(value, default=str))
            paper.wrapped(5, ("dim", f"{readable(key)}: "), changed)


def _meaning(fold: HookResult) -> str:
    from amplifier_apps.cli.display.narration import first_line

    meanings = {
        "deny": "it would not happen",
        "ask_user": "a person would be asked first",
        "inject_context": "it happens, and the agent is told",
        "continue": "it happens",
    }
    reason = f": {first_line(fold.reason)}" if fold.reason else ""
    return meanings.get(fold.action, "it happens, changed") + reason
