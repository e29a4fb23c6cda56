"""amplifier hooks test: send hooks sample events, or cases, and show what they answer."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.options import AS_JSON, BUNDLE, parse_json_object

if TYPE_CHECKING:
    from amplifier_hooks.cli.commands.hooks.trial import Trial, TrialOptions
    from amplifier_hooks.cli.commands.hooks.tried_case import TriedCase


@click.command("test")
@click.argument("file", required=False)
@click.argument("cases", required=False)
@BUNDLE
@click.option("--config", "config_json", help="Options of the module, as JSON.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds for one event.")
@click.option("--samples", is_flag=True, help="Send sample events, even if there are cases.")
@click.option("--watch", is_flag=True, help="Run again whenever a file is saved, until Ctrl-C.")
@click.option(
    "--write",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the answers to the sample events into this file, as cases to start from.",
)
@AS_JSON
def try_hooks(
    file: str | None,
    cases: str | None,
    bundle: Path | None,
    config_json: str | None,
    timeout: float | None,
    samples: bool,
    watch: bool,
    write: Path | None,
    as_json: bool,
) -> int:
    """Send events to the hooks of FILE, and compare the answers with CASES.

    FILE is a hook file, the folder of a package, the id of a module, or a folder with cases;
    without it, the hooks of the bundle are tested. CASES is a YAML or JSON file; NAME.cases.yaml
    beside FILE is found by itself. Without cases, sample events are sent and the answers shown.

    The hooks really run, but their answers are not carried out. A FILE that you name is run as
    `python FILE` would run it; a bundle must be trusted.
    """
    from amplifier_hooks.cli.commands.hooks.trial import read_options

    config = None if config_json is None else parse_json_object(config_json, "--config")
    given = {"config": config, "timeout": timeout, "samples": samples or write is not None}
    if files := _list_case_files(file):
        if any((cases, bundle, config, write, watch, samples)):
            raise click.UsageError(f"{file} holds several files with cases; only --json fits here")
        return _test_all([read_options(str(one), None, None, **given) for one in files], as_json)
    options = read_options(file, cases, bundle, **given)
    if watch:
        return _watch(options, as_json=as_json, writes=write is not None)
    return _test_all([options], as_json, write)


def _list_case_files(file: str | None) -> list[Path]:
    from amplifier_hooks.cli.commands.hooks.trial import list_case_files
    from amplifier_hooks.insight.cases.subject import is_installed

    return [] if file is None or is_installed(file) else list_case_files(Path(file))


def _watch(options: TrialOptions, *, as_json: bool, writes: bool) -> int:
    from amplifier_hooks.cli.commands.hooks.trial import list_watched
    from amplifier_hooks.cli.commands.hooks.watching import run_at_each_change

    if as_json or writes:
        raise click.UsageError("--watch cannot be used with --json or --write")
    named = [one for one in (options.file, options.cases) if one is not None]
    # -P: a package of that name in the current folder is not ours.
    program = [sys.executable, "-P", "-m", "amplifier_hooks.cli.main", "hooks", "test"]
    command = [*program, *_repeat_options(options), "--", *named]
    run_at_each_change(command, lambda: list_watched(options))
    return exit_codes.DONE


def _repeat_options(options: TrialOptions) -> list[str]:
    given: dict[str, Any] = {
        "--bundle": options.bundle,
        "--config": None if options.config is None else json.dumps(options.config),
        "--timeout": options.timeout,
    }
    flags = ["--samples"] if options.samples else []
    words = [(name, str(value)) for name, value in given.items() if value is not None]
    return [*flags, *(word for pair in words for word in pair)]


def _test_all(several: Sequence[TrialOptions], as_json: bool, write: Path | None = None) -> int:
    from amplifier_hooks.cli.commands.hooks.trial import prepare_trial

    if write is not None and write.exists():
        raise click.UsageError(f"{str(write)!r} is there already; --write makes a new file")
    trials = [prepare_trial(options) for options in several]  # mistakes first
    facts: list[dict[str, Any]] = []
    for options, trial in zip(several, trials, strict=True):
        tried = _test(trial, as_json, first=not facts)
        facts.append(_describe(trial, tried))
        if write is not None:
            _write(trial, options, tried, write)
        elif trial.cases is None and not as_json:
            _suggest_writing(options)
    _sum_up(facts, as_json)
    return _leave(exit_codes.FAILED if any(one["failed"] for one in facts) else exit_codes.DONE)


def _test(trial: Trial, as_json: bool, *, first: bool) -> list[TriedCase]:
    if not (first or as_json):
        click.echo()
    return _try_samples(trial, as_json) if trial.cases is None else _try_cases(trial, as_json)


def _sum_up(facts: list[dict[str, Any]], as_json: bool) -> None:
    from amplifier_hooks.cli.commands.hooks.tried_text import print_sums

    if as_json:
        click.echo(json.dumps(facts if len(facts) > 1 else facts[0], indent=2, default=str))
    elif len(facts) > 1:
        passed, failed = (sum(one[key] for one in facts) for key in ("passed", "failed"))
        print_sums(passed, failed, f"{len(facts)} files: ")


def _try_cases(trial: Trial, as_json: bool) -> list[TriedCase]:
    from amplifier_hooks.cli.commands.hooks.tried_case import try_cases
    from amplifier_hooks.cli.commands.hooks.tried_text import print_sums, print_tried
    from amplifier_hooks.cli.text.escape import escape
    from amplifier_hooks.cli.text.output import print_wrapped

    if trial.cases is None:
        return []
    if not as_json:
        about = f"  cases of {escape(trial.subject.name)}"
        print_wrapped(0, ("title", escape(str(trial.cases.path))), ("dim", about))
    done: list[TriedCase] = []
    for one in try_cases(trial.cases.cases, trial.subject, trial.config, trial.limit):
        if not as_json:
            print_tried(one, done[-1].run.problem if done else "")
        done.append(one)
    if not as_json:
        passed = sum(one.passed for one in done)
        print_sums(passed, len(done) - passed)
    return done


def _try_samples(trial: Trial, as_json: bool) -> list[TriedCase]:
    from amplifier_core.errors import ModuleLoadError
    from amplifier_hooks.cli.commands.hooks.printed_output import capture_output
    from amplifier_hooks.cli.commands.hooks.tried_case import try_cases
    from amplifier_hooks.cli.commands.hooks.tried_text import print_samples
    from amplifier_hooks.cli.text.escape import escape
    from amplifier_hooks.cli.text.output import print_wrapped
    from amplifier_hooks.insight.cases.case_run import find_events
    from amplifier_hooks.insight.cases.samples import make_samples

    with capture_output():  # it will be printed again for each event
        events = find_events(trial.subject, trial.config, trial.limit)
    if not events:
        raise ModuleLoadError(f"{trial.subject.name} registers no hooks, so none can be tested")
    tried = list(try_cases(make_samples(events), trial.subject, trial.config, trial.limit))
    if not as_json:
        print_wrapped(0, ("title", escape(trial.subject.name)), ("dim", "  sample events"))
        sent = {one.run.case.steps[0].event for one in tried}
        print_samples(tried, [one for one in events if one not in sent])
    return tried


def _describe(trial: Trial, tried: list[TriedCase]) -> dict[str, Any]:
    from amplifier_hooks.cli.commands.hooks.tried_case import tried_to_dict

    passed = sum(one.passed for one in tried)
    return {
        "hooks": trial.subject.name,
        "cases": None if trial.cases is None else str(trial.cases.path),
        "passed": passed,
        "failed": len(tried) - passed,
        "runs": [tried_to_dict(one) for one in tried],
    }


def _write(trial: Trial, options: TrialOptions, tried: list[TriedCase], path: Path) -> None:
    from amplifier_hooks.insight.cases.subject import BundleSubject
    from amplifier_hooks.insight.cases.writing import choose_runs, write_cases

    is_bundle = isinstance(trial.subject, BundleSubject)
    name = options.file or str(options.bundle or trial.subject.name)
    is_file = is_bundle or Path(name).exists()
    target = os.path.relpath(name, path.parent) if is_file else name
    if is_file and not target.startswith(("../", "/")):
        target = f"./{target}"
    kept = choose_runs(one.run for one in tried)
    text = write_cases("bundle" if is_bundle else "hook", target, trial.config, kept)
    path.write_text(text, encoding="utf-8")
    count = "1 case" if len(kept) == 1 else f"{len(kept)} cases"
    told = f"Wrote {count} to {path}: today's answers; check that they are right"
    click.echo(told, err=True)


def _suggest_writing(options: TrialOptions) -> None:
    from amplifier_hooks.agent.bundles.load import FILE_NAME
    from amplifier_hooks.cli.program_name import name_program, quote
    from amplifier_hooks.cli.text.escape import escape
    from amplifier_hooks.cli.text.output import print_line

    name = options.file or str(options.bundle or FILE_NAME)
    if options.samples or not Path(name).exists():
        return
    words = [] if options.file is None and options.bundle is None else [quote(name)]
    words = ["--bundle", *words] if options.bundle is not None else words
    path = quote(str(Path(name).with_suffix(".cases.yaml")))
    command = " ".join([name_program(), "hooks", "test", *words, "--write", path])
    print_line("")
    print_line(("dim", "To keep these answers as cases:"))
    print_line("  ", escape(command))


def _leave(code: int) -> int:
    """The exit code; left at once where a hook hangs in a thread that Python would wait for."""
    from amplifier_hooks.insight.cases.threads import has_abandoned

    if has_abandoned():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code
