"""A rule is as narrow as the questions that it would answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.insight.rule_suggestions.drafts import draft_exact, draft_family, name_rule
from amplifier_hooks.insight.rule_suggestions.trial import Trial
from tests.hooks.insight.rule_suggestions.asked import FOLDER, make_question


def make_trial(
    tool: str, given: dict[str, Any], *, family: bool = False, folder: Path = Path(FOLDER)
) -> Trial:
    """The rule for a call."""
    question = make_question(tool, given, folder=str(folder))
    draft = (draft_family if family else draft_exact)(question)
    assert draft is not None
    rule = {"name": "x", **draft.conditions, "decision": "allow"}
    return Trial(rule, Path(question.folder))


def test_an_exact_rule_allows_one_command_and_no_other() -> None:
    """Not one word more, nothing before or behind it, no other option of the tool."""
    trial = make_trial("Bash", {"command": "git push origin dev", "description": "push"})
    assert trial.allows("Bash", {"command": "git push origin dev"})
    assert trial.allows("Bash", {"command": "git push origin dev", "timeout": 5})
    for command in (
        "git push origin dev --force",
        "git push origin dev main",
        "git push origin",
        "git push origin dev; rm -rf src",
        "git push origin dev ",
        "ls",
    ):
        assert not trial.allows("Bash", {"command": command}), command
    assert not trial.allows("Bash", {"command": "git push origin dev", "sandbox": "off"})
    assert not trial.allows("bash", {"command": "git push origin dev"})


def test_other_keys_of_the_input_keep_their_values() -> None:
    """A yes to a call with an option is none to the call with another."""
    trial = make_trial("Bash", {"command": "make test", "background": True})
    assert trial.allows("Bash", {"command": "make test", "background": True})
    assert not trial.allows("Bash", {"command": "make test", "background": False})
    assert not trial.allows("Bash", {"command": "make test"})


def test_several_commands_are_allowed_together_only() -> None:
    """The text is the same, to the letter."""
    trial = make_trial("Bash", {"command": "cd web && npm test"})
    assert trial.allows("Bash", {"command": "cd web && npm test"})
    assert not trial.allows("Bash", {"command": "npm test"})
    looking = make_trial("Bash", {"command": "echo checks && true"})
    assert looking.allows("Bash", {"command": "echo checks && true"})
    assert not looking.allows("Bash", {"command": "echo checks"})


def test_an_exact_rule_for_an_edit_is_about_one_file() -> None:
    """In its folder, and not by the same name elsewhere."""
    trial = make_trial("Write", {"file_path": "production/[a].html", "content": "x"})
    assert trial.allows(
        "Write", {"file_path": "/home/ann/project/production/[a].html", "content": "y"}
    )
    for path in ("production/a.html", "x/production/[a].html", "production/[a].html.bak"):
        assert not trial.allows("Write", {"file_path": path, "content": "x"}), path
    braces = make_trial("Write", {"file_path": "a{b}.html", "content": "x"})
    assert not braces.allows("Write", {"file_path": "a?b}.html", "content": "x"})
    assert not braces.allows("Write", {"file_path": "a{b}.html", "content": "y"})


def test_any_other_call_is_allowed_with_the_same_input() -> None:
    """An input that cannot be written as a condition has no rule."""
    trial = make_trial("mcp__x__go", {"id": 3, "name": 'a"\n', "dry": True})
    assert trial.allows("mcp__x__go", {"id": 3, "name": 'a"\n', "dry": True})
    assert not trial.allows("mcp__x__go", {"id": 3, "name": 'a"\n', "dry": True, "more": 1})
    assert not trial.allows("mcp__x__go", {"id": 4, "name": 'a"\n', "dry": True})
    assert draft_exact(make_question("mcp__x__go", {"list": [1]})) is None
    assert draft_exact(make_question("mcp__x__go", {})) is None


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with tests and a file."""
    (tmp_path / "tests").mkdir()
    (tmp_path / ".github").mkdir()
    (tmp_path / "setup.py").touch()
    return tmp_path


def test_a_family_of_commands_differs_in_the_name_of_a_file(project: Path) -> None:
    """In the same folder and of the same kind, and in nothing else."""
    call = {"command": "pytest tests/test_a.py -q"}
    trial = make_trial("Bash", call, family=True, folder=project)
    assert trial.allows("Bash", {"command": "pytest tests/test_b.py -q"})
    for command in (
        "pytest tests/deep/test_b.py -q",
        "pytest tests/../test_b.py -q",
        "pytest tests/test_b.py -x",
        "pytest tests/test_b.py -q -x",
        "pytest tests/test_b.txt -q",
        "pytest tests/-p.py -q",
        "pytest tests/.hidden.py -q",
        "pytest tests/test_tokens.py -q",
        "pytest tests/$x.py -q",
        "pytest tests/a.py\n-q",
    ):
        assert not trial.allows("Bash", {"command": command}), command


def test_a_family_of_edits_is_in_one_folder() -> None:
    """Of one kind, and without names that tell of secrets."""
    trial = make_trial("Write", {"file_path": "conf/a.yaml"}, family=True)
    assert trial.allows("Write", {"file_path": "conf/b.yaml"})
    for path in (
        "conf/x/b.yaml",
        "x/conf/b.yaml",
        "conf/b.yml",
        "conf/secrets.yaml",
        "conf/.a.yaml",
    ):
        assert not trial.allows("Write", {"file_path": path}), path


@pytest.mark.parametrize(
    ("tool", "call"),
    [
        ("Bash", {"command": "cp tests/a.txt tests/b.txt"}),
        ("Bash", {"command": "ssh example.com"}),
        ("Bash", {"command": "git clone user/repo.git"}),
        ("Bash", {"command": "npm publish v/1.2.3"}),
        ("Bash", {"command": "pytest /tmp/a.py"}),
        ("Bash", {"command": "make test"}),
        ("Bash", {"command": "pytest 'tests/a b.py'"}),
        ("Bash", {"command": "pytest tests/a.py; make x"}),
        ("Bash", {"command": "cat .github/a.yml"}),
        ("Bash", {"command": "pytest ../a.py"}),
        ("Write", {"file_path": "Makefile"}),
        ("Write", {"file_path": ".github/a.yml"}),
        ("mcp__x", {"path": "a.txt"}),
    ],
)
def test_what_differs_in_more_has_no_family(project: Path, tool: str, call: dict[str, Any]) -> None:
    """Then only a rule for the very call can be proposed."""
    assert draft_family(make_question(tool, call, folder=str(project))) is None


def test_a_name_without_a_folder_must_be_a_file_that_is_there(project: Path) -> None:
    """Anything else may be a host or a version."""
    assert draft_family(make_question("Bash", {"command": "python setup.py"})) is None
    trial = make_trial("Bash", {"command": "python setup.py"}, family=True, folder=project)
    assert trial.allows("Bash", {"command": "python other.py"})


TEXTS = st.text(
    st.sampled_from(list("ab .-/'\"\\$();|&<>\n{}[]*?~=é\u202e")), min_size=1, max_size=12
)


@given(TEXTS, TEXTS)
@settings(max_examples=25, deadline=None)
def test_no_text_makes_an_exact_rule_wider(first: str, second: str) -> None:
    """Whatever an agent has written into its command, the rule allows at most that."""
    draft = draft_exact(make_question("Bash", {"command": f"make {first}"}))
    if draft is None:
        return
    rule = {"name": "x", **draft.conditions, "decision": "allow"}
    trial = Trial(rule, Path(FOLDER))
    if first != second:
        assert not trial.allows("Bash", {"command": f"make {second}"})


@pytest.mark.parametrize("program", ["'|'", "'a|b'", "'a b'", "'*'"])
def test_a_program_whose_name_is_a_pattern_gets_no_rule(program: str) -> None:
    """A rule could not be read, or would be about other programs as well."""
    assert draft_exact(make_question("Bash", {"command": f"make; {program} x"})) is None


def test_names_are_short_and_not_taken() -> None:
    """Foreign text does not get into them."""
    draft = draft_exact(make_question("Bash", {"command": "npm run deploy:staging"}))
    assert draft is not None
    assert name_rule(draft, []) == "npm-run-deploy-staging"
    assert name_rule(draft, ["npm-run-deploy-staging"]) == "npm-run-deploy-staging-2"
