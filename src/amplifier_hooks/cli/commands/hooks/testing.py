"""amplifier hooks test: send hooks sample events, or cases, and show what they answer."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_core.errors import AmplifierError
from amplifier_core.loader.importing import find_package
from amplifier_core.mount_plan import ModuleEntry, MountPlan
from amplifier_hooks.agent.bundles.load import FILE_NAME
from amplifier_hooks.agent.session.watched_files import Stamp, list_files, stamp_files
from amplifier_hooks.agent.trust.material import Untrusted
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.options import AS_JSON, BUNDLE, parse_json_object
from amplifier_hooks.cli.text.output import is_terminal, print_line, print_wrapped
from amplifier_hooks.text.escape import escape

if TYPE_CHECKING:
    from amplifier_hooks.agent.trust.material import Material
    from amplifier_hooks.cli.commands.hooks.tried_text import TriedCase
    from amplifier_hooks.insight.cases.case import CaseFile
    from amplifier_hooks.insight.cases.running import BundleSubject, Subject


_PAUSE = 0.2
"""Seconds between two looks at the files."""

_PATIENCE = 2.0
"""Seconds that a command gets to end by itself when it is told to."""


def run_at_each_change(command: Sequence[str], find_files: Callable[[], Iterable[Path]]) -> None:
    """Run a command now and after each change, until Ctrl-C.

    Each run is a process of its own: it imports every file anew, and what hangs can be ended.
    """
    try:
        while True:
            files = list(find_files())
            seen = stamp_files(files)
            if is_terminal():
                click.clear()
            if _run(command, files, seen):
                _print_watched(files)
                _wait_for_change(files, seen)
    except KeyboardInterrupt:
        print_line("")


def _run(command: Sequence[str], files: Sequence[Path], seen: Stamp) -> bool:
    """Run the command; False if a file changed meanwhile and it was ended for that."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        while child.poll() is None:
            if stamp_files(files) != seen:
                return False
            _wait(child)
        return True
    finally:
        _end(child)


def _wait(child: subprocess.Popen[bytes]) -> None:
    try:
        child.wait(_PAUSE)
    except subprocess.TimeoutExpired:
        return


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is not None:
        return
    child.terminate()
    try:
        child.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _wait_for_change(files: Sequence[Path], seen: Stamp) -> None:
    while stamp_files(files) == seen:
        time.sleep(_PAUSE)


def _print_watched(files: Iterable[Path]) -> None:
    shown = dict.fromkeys(_shorten(path) for path in files if path.exists())
    print_line("")
    names = ", ".join(escape(name) for name in shown)
    print_wrapped(0, ("dim", f"Waiting for changes of {names}. Ctrl-C ends."))


def _shorten(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


async def load_material(path: Path | None, *, user: bool = True) -> tuple[Material, str]:
    """The bundle with what it runs, and why it may not be run; empty if a person trusts it.

    Without `user`, the settings of the person who asks are left out.
    """
    from amplifier_hooks.agent.bundles import load_bundle
    from amplifier_hooks.agent.trust.material import Untrusted, collect_material
    from amplifier_hooks.agent.trust.store import TrustStore
    from amplifier_hooks.cli.approval.trust_question import explain, require_trust

    store = TrustStore()
    bundle = await asyncio.to_thread(load_bundle, path, user=user)
    material = await asyncio.to_thread(collect_material, bundle, Path.cwd())
    try:
        await require_trust(material, store, ask=False)
    except Untrusted:
        return material, explain(material, store)
    return material, ""


_DOCUMENTS = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """What the command line says."""

    file: str | None = None
    cases: str | None = None
    bundle: Path | None = None
    config: Mapping[str, Any] | None = None
    timeout: float | None = None
    samples: bool = False

    @property
    def cases_path(self) -> Path | None:
        """The cases that are named, or those beside what is tried."""
        from amplifier_hooks.insight.cases.files import find_cases_beside

        if self.samples:
            return None
        if self.cases is not None:
            return Path(self.cases)
        return find_cases_beside(Path(self.file) if self.file else self.bundle or Path(FILE_NAME))


@dataclass(frozen=True, slots=True)
class Trial:
    """Everything that a run needs."""

    subject: Subject
    cases: CaseFile | None
    config: Mapping[str, Any]
    limit: float


def read_options(
    file: str | None, cases: str | None, bundle: Path | None, **others: Any
) -> TrialOptions:
    """The options; a file of cases may stand alone, if it names what it is about."""
    if file is not None and file.lower().endswith(_DOCUMENTS):
        if cases is not None:
            raise click.UsageError(f"{file} is not a hook file: the hook comes first, then CASES")
        file, cases = None, file
    if file is not None and bundle is not None:
        raise click.UsageError("Give a FILE or --bundle, not both")
    if cases is not None and others.get("samples"):
        raise click.UsageError("Give CASES or --samples, not both")
    if cases is not None and not Path(cases).is_file():
        raise click.UsageError(f"There is no file {cases!r} with cases")
    return TrialOptions(file, cases, bundle, **others)


def list_case_files(folder: Path) -> list[Path]:
    """The files with cases in a folder that is no package; none if there is no such folder."""
    from amplifier_hooks.insight.cases.files import ENDINGS

    if not folder.is_dir() or (folder / "__init__.py").is_file() or find_package("", folder):
        return []
    return sorted(one for one in folder.iterdir() if one.name.endswith(ENDINGS))


def prepare_trial(options: TrialOptions) -> Trial:
    """Read the cases and find the hooks; of a bundle only those that a person has trusted."""
    from amplifier_hooks.insight.cases.case import TIME_LIMIT
    from amplifier_hooks.insight.cases.files import read_cases

    path = options.cases_path
    cases = None if path is None else read_cases(path)
    config = dict(cases.config if cases is not None else {}) | dict(options.config or {})
    limit = options.timeout or (cases.timeout if cases is not None else TIME_LIMIT)
    return Trial(_choose_subject(options, cases), cases, config, limit)


def _choose_subject(options: TrialOptions, cases: CaseFile | None) -> Subject:
    from amplifier_hooks.insight.cases.running import find_subject

    if options.file is not None:
        return find_subject(options.file, Path.cwd())
    if options.bundle is None and cases is not None:
        return _choose_named(options, cases)
    return _load_bundle(options.bundle, options)


def _choose_named(options: TrialOptions, cases: CaseFile) -> Subject:
    """What a file with cases is about; the one beside a bundle need not say it."""
    from amplifier_hooks.insight.cases.running import find_subject

    if cases.hook is not None:
        return find_subject(cases.hook, cases.path.absolute().parent)
    if cases.bundle is not None:
        return _load_bundle(cases.path.parent / cases.bundle, options)
    if options.cases is None:
        return _load_bundle(None, options)
    raise click.UsageError(
        f"{options.cases} does not say what it is about: write `hook: ./my_hook.py` on top of "
        "it, or name the hook before it"
    )


def _load_bundle(path: Path | None, options: TrialOptions) -> BundleSubject:
    from amplifier_hooks.insight.cases.running import BundleSubject

    if options.config:
        raise click.UsageError("--config is for one module; a bundle has the options of its own")
    material, refusal = asyncio.run(load_material(path, user=False))
    if refusal:
        raise Untrusted(refusal)
    return BundleSubject(material)


def list_watched(options: TrialOptions) -> list[Path]:
    """The files that a trial depends on, as far as they can be known from what is there now."""
    beside = Path(options.file) if options.file else options.bundle or Path(FILE_NAME)
    named = [Path(one) for one in (options.file, options.cases) if one is not None]
    found = [*named, beside, beside.with_suffix(".cases.yaml")]
    try:
        trial = prepare_trial(options)
    except (AmplifierError, OSError, click.ClickException):
        return found
    of_cases = [] if trial.cases is None else [trial.cases.path]
    return [*found, *of_cases, *_list_sources(trial)]


def _list_sources(trial: Trial) -> Iterator[Path]:
    """The files of the hooks, and those that their options name."""
    from amplifier_hooks.insight.cases.running import BundleSubject

    if isinstance(trial.subject, BundleSubject):
        material = trial.subject.material
        yield from material.bundle.watched
        for entry in MountPlan.parse(material.bundle.mount_plan).hooks:
            yield from list_files(entry, material.folder)
        return
    path = getattr(trial.subject, "path", None)
    source = None if path is None else str(path)
    entry = ModuleEntry(module="", source=source, config=dict(trial.config))
    yield from list_files(entry, Path.cwd())


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
    from amplifier_hooks.insight.cases.running import is_installed

    return [] if file is None or is_installed(file) else list_case_files(Path(file))


def _watch(options: TrialOptions, *, as_json: bool, writes: bool) -> int:

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
    from amplifier_hooks.cli.commands.hooks.tried_text import print_sums, print_tried, try_cases
    from amplifier_hooks.cli.text.output import print_wrapped
    from amplifier_hooks.text.escape import escape

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
    from amplifier_hooks.cli.commands.hooks.tried_text import (
        capture_output,
        print_samples,
        try_cases,
    )
    from amplifier_hooks.cli.text.output import print_wrapped
    from amplifier_hooks.insight.cases.files import make_samples
    from amplifier_hooks.insight.cases.running import find_events
    from amplifier_hooks.text.escape import escape

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
    from amplifier_hooks.cli.commands.hooks.tried_text import tried_to_dict

    passed = sum(one.passed for one in tried)
    return {
        "hooks": trial.subject.name,
        "cases": None if trial.cases is None else str(trial.cases.path),
        "passed": passed,
        "failed": len(tried) - passed,
        "runs": [tried_to_dict(one) for one in tried],
    }


def _write(trial: Trial, options: TrialOptions, tried: list[TriedCase], path: Path) -> None:
    from amplifier_hooks.insight.cases.files import choose_runs, write_cases
    from amplifier_hooks.insight.cases.running import BundleSubject

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
    from amplifier_hooks.cli.text.output import print_line
    from amplifier_hooks.text.escape import escape

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
    from amplifier_hooks.insight.cases.running import has_abandoned

    if has_abandoned():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code
