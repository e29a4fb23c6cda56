"""A trial: which hooks are tried, with which cases, options and time limit."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from amplifier_core.errors import AmplifierError
from amplifier_core.loader.importing import find_package
from amplifier_core.mount_plan import ModuleEntry, MountPlan
from amplifier_hooks.agent.bundles.load import FILE_NAME
from amplifier_hooks.agent.session.watched_files import list_files
from amplifier_hooks.agent.trust.material import Untrusted
from amplifier_hooks.cli.commands.hooks.trusted_bundle import load_material
from amplifier_hooks.insight.cases.case import TIME_LIMIT, CaseFile
from amplifier_hooks.insight.cases.reading import ENDINGS, find_cases_beside, read_cases
from amplifier_hooks.insight.cases.subject import BundleSubject, Subject, find_subject

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
    if not folder.is_dir() or (folder / "__init__.py").is_file() or find_package("", folder):
        return []
    return sorted(one for one in folder.iterdir() if one.name.endswith(ENDINGS))


def prepare_trial(options: TrialOptions) -> Trial:
    """Read the cases and find the hooks; of a bundle only those that a person has trusted."""
    path = options.cases_path
    cases = None if path is None else read_cases(path)
    config = dict(cases.config if cases is not None else {}) | dict(options.config or {})
    limit = options.timeout or (cases.timeout if cases is not None else TIME_LIMIT)
    return Trial(_choose_subject(options, cases), cases, config, limit)


def _choose_subject(options: TrialOptions, cases: CaseFile | None) -> Subject:
    if options.file is not None:
        return find_subject(options.file, Path.cwd())
    if options.bundle is None and cases is not None:
        return _choose_named(options, cases)
    return _load_bundle(options.bundle, options)


def _choose_named(options: TrialOptions, cases: CaseFile) -> Subject:
    """What a file with cases is about; the one beside a bundle need not say it."""
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
