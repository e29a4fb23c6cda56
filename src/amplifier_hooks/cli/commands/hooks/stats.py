"""amplifier hooks stats: what each hook did, over recorded sessions or while one runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_hooks.cli.commands.audit.options import SINCE, report_errors
from amplifier_hooks.cli.options import AS_JSON, SELF_TESTS

if TYPE_CHECKING:
    from amplifier_hooks.insight.counting import Survey


@click.command()
@click.argument("trails", nargs=-1, metavar="[TRAIL]...")
@SINCE
@click.option("--hook", help="Only this hook, with everything that is known of it.")
@click.option("--shadow", is_flag=True, help="What hooks in shadow mode would have done.")
@click.option("--live", is_flag=True, help="Follow the newest session while it runs.")
@click.option("--everywhere", is_flag=True, help="Sessions of all folders, not only of this one.")
@SELF_TESTS
@AS_JSON
@report_errors
def stats(trails: tuple[str, ...], as_json: bool, live: bool, **options: Any) -> None:
    """Show what each hook did: calls, answers, failures, time, questions and what became of them.

    Without arguments, all sessions that worked in this folder. A hook is called active, or else
    failing (1 of 100 calls and more), dead (every session had it, none called it), slow (p99 over
    100 ms), noisy (people allow 9 of 10 questions and more) or quiet (it never spoke).
    """
    from amplifier_hooks.cli.commands.audit.trails import select_recorded
    from amplifier_hooks.cli.commands.hooks.stats_text import print_survey

    everywhere, self_tests = options["everywhere"], options["self_tests"]
    paths = select_recorded(trails, everywhere, self_tests=self_tests)

    def show(survey: Survey) -> None:
        told = survey.to_dict(options["hook"])
        if as_json:
            click.echo(json.dumps(told, indent=None if live else 2, ensure_ascii=False))
        else:
            print_survey(told, shadow=options["shadow"], hook=options["hook"])

    if live:
        from amplifier_hooks.cli.commands.hooks.live_stats import follow_session

        follow_session(paths[-1], options["since"] or "", show, redraws=not as_json)
        return
    survey = _count(paths, options["since"] or "")
    _check_hook(survey, options["hook"])
    show(survey)


def _count(paths: list[Path], since: str) -> Survey:
    from amplifier_hooks.cli.commands.audit.progress import show_progress
    from amplifier_hooks.insight.counting import Survey

    survey = Survey(since)
    with show_progress("Counting", len(paths)) as progress:
        for done, path in enumerate(paths):
            progress.update(done)
            survey.read(path)
    return survey


def _check_hook(survey: Survey, hook: str | None) -> None:
    """A name that nobody has heard of is a slip, not a hook that did nothing."""
    if hook is None or hook in survey.found.hooks:
        return
    from difflib import get_close_matches

    names = sorted(survey.found.hooks)
    near = get_close_matches(hook, names, 3) or names[:5]
    have = f"; have {', '.join(near)}" if near else ""
    raise click.UsageError(f"No hook {hook!r} in these sessions{have}")
