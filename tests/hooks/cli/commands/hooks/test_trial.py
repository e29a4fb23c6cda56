"""Which hooks are tried, with which cases."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from amplifier_hooks.agent.trust.material import Untrusted
from amplifier_hooks.cli.commands.hooks.testing import (
    TrialOptions,
    list_watched,
    prepare_trial,
    read_options,
)
from amplifier_hooks.insight.cases.subject import BundleSubject, ModuleSubject
from tests.hooks.cli.conftest import Project
from tests.hooks.insight.cases.hook_files import write_hook

CASE = "[{event: tool:pre, expect: deny}]"


@pytest.mark.parametrize(
    ("file", "cases", "bundle", "samples", "told"),
    [
        ("a.yaml", "b.yaml", None, False, "a.yaml is not a hook file: the hook comes first"),
        ("a.py", None, Path("b"), False, "a FILE or --bundle, not both"),
        ("a.py", "b.yaml", None, True, "CASES or --samples, not both"),
        ("a.py", "b.yaml", None, False, "There is no file 'b.yaml' with cases"),
    ],
)
def test_what_contradicts_itself_is_refused(
    home: Path, file: str, cases: str | None, bundle: Path | None, samples: bool, told: str
) -> None:
    """With a sentence that says what would do."""
    with pytest.raises(click.UsageError, match=told):
        read_options(file, cases, bundle, samples=samples)


def test_cases_are_found_beside_the_file_or_stand_alone(home: Path) -> None:
    """Alone they name their hook; one on the command line comes before it."""
    path = write_hook(home)
    (home / "in").mkdir()
    beside = home / "guard.cases.yaml"
    beside.write_text(f"config: {{a: 1, b: 1}}\ntimeout: 3\ncases: {CASE}\n")
    trial = prepare_trial(TrialOptions("guard.py", config={"b": 2}))
    assert trial.cases.path == Path("guard.cases.yaml")
    assert (trial.config, trial.limit) == ({"a": 1, "b": 2}, 3.0)
    assert prepare_trial(TrialOptions("guard.py", samples=True, timeout=1)).limit == 1
    alone = home / "in" / "other.yaml"
    alone.write_text(f"hook: ../guard.py\ncases: {CASE}\n")
    options = read_options("in/other.yaml", None, None)
    subject = prepare_trial(options).subject
    assert isinstance(subject, ModuleSubject)
    assert subject.path.resolve() == path
    write_hook(home, name="newer.py")
    assert prepare_trial(TrialOptions("newer.py", "in/other.yaml")).subject.name == "newer.py"


def test_cases_that_do_not_say_what_they_are_about_are_refused(home: Path) -> None:
    """Unless the command line says it."""
    (home / "cases.yaml").write_text(CASE)
    with pytest.raises(click.UsageError, match=r"write `hook: \./my_hook\.py` on top of it"):
        prepare_trial(TrialOptions(cases="cases.yaml"))


def test_a_bundle_needs_trust_however_it_is_named(home: Path, project: Project) -> None:
    """Its hooks were not named by the person."""
    write_hook(home)
    bundle = project({"text": "x"}, trusted=False, hooks=[{"module": "./guard.py"}])
    (home / "cases.yaml").write_text(f"bundle: amplifier.yaml\ncases: {CASE}\n")
    ways = [TrialOptions(), TrialOptions(bundle=bundle), TrialOptions(cases="cases.yaml")]
    for options in ways:
        with pytest.raises(Untrusted, match="amplifier trust"):
            prepare_trial(options)
    project({"text": "x"}, hooks=[{"module": "./guard.py"}])
    for options in ways:
        assert isinstance(prepare_trial(options).subject, BundleSubject)
    with pytest.raises(click.UsageError, match="--config is for one module"):
        prepare_trial(TrialOptions(config={"x": 1}))


def test_every_file_that_counts_is_watched(home: Path, project: Project) -> None:
    """Of a file, of its cases and rules, of a bundle; also if they cannot be read now."""
    write_hook(home)
    options = TrialOptions("guard.py", config={"file": "rules.yaml"})
    found = {path.absolute() for path in list_watched(options)}
    expected = {"guard.py", "guard.cases.yaml", "rules.yaml"}
    assert found == {home / name for name in expected}
    (home / "guard.cases.yaml").write_text("cases: [")
    broken = {path.absolute() for path in list_watched(options)}
    assert broken == {home / "guard.py", home / "guard.cases.yaml"}
    project({"text": "x"}, hooks=[{"module": "./guard.py"}])
    of_bundle = {path.absolute() for path in list_watched(TrialOptions())}
    assert {home / "guard.py", home / "amplifier.yaml", home / "amplifier.cases.yaml"} <= of_bundle
