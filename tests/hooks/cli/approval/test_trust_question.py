"""What a person is asked about a folder, and what an answer means."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, ApprovalTimeout
from amplifier_hooks.agent.trust.material import Untrusted
from amplifier_hooks.agent.trust.store import TrustStore
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.approval import trust_question
from amplifier_hooks.cli.approval.trust_question import (
    ask_for_trust,
    describe,
    explain,
    require_trust,
)
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import run_amplifier
from tests.support.trust import look_at, trust_project


class Person:
    """Answers with one option, or not in time."""

    questions: list[ApprovalQuestion]

    def __init__(self, answer: str | None) -> None:
        self.answer = answer
        self.questions = []

    def __call__(self, base: Path) -> Person:
        return self

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer:
        self.questions.append(question)
        if self.answer is None:
            raise ApprovalTimeout("Nobody decided in 600 seconds.")
        return ApprovalAnswer(self.answer)


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> object:
    """Puts a person at the terminal."""

    def sit_down(answer: str | None) -> Person:
        person = Person(answer)
        monkeypatch.setattr(trust_question, "TerminalApproval", person)
        return person

    return sit_down


async def test_a_yes_is_remembered_and_seals_the_content(
    project: Project, home: Path, ask: object
) -> None:
    """The second time nobody is asked."""
    project({"text": "hi"}, trusted=False)
    person = ask("Allow")  # type: ignore[operator]
    material = look_at(home)
    await require_trust(material, TrustStore())
    await require_trust(look_at(home), TrustStore())
    [question] = person.questions
    assert question.default == "deny"
    assert question.options == ("Allow", "Deny")
    assert question.prompt.startswith("Trust this folder?\n\nThe bundle amplifier.yaml of")
    (home / "late.py").write_text("")
    with pytest.raises(OSError, match="was not there when a person allowed"):
        material.snapshot.read(home / "late.py")


@pytest.mark.parametrize("answer", ["Deny", "anything else", None])
async def test_anything_but_a_yes_runs_nothing(
    project: Project, home: Path, ask: object, answer: str | None
) -> None:
    """A no, an option that nobody offered, or no answer in time."""
    project({"text": "hi"}, trusted=False)
    ask(answer)  # type: ignore[operator]
    with pytest.raises(Untrusted, match=r"was not trusted|Nobody decided"):
        await ask_for_trust(look_at(home), TrustStore())
    assert TrustStore().list() == []


async def test_without_asking_the_command_is_named(project: Project, home: Path) -> None:
    """For those who run it where there is nobody."""
    project({"text": "hi"}, trusted=False)
    with pytest.raises(Untrusted, match=r"has not been trusted yet.*: amplifier trust"):
        await require_trust(look_at(home), TrustStore(), ask=False)


def test_without_a_terminal_the_way_for_scripts_is_named(project: Project, home: Path) -> None:
    """The digest says what is trusted, where nobody can look at it."""
    project({"text": "hi"}, trusted=False)
    for arguments in (["run", "hi"], ["trust"]):
        done = run_amplifier(*arguments)
        assert done.code == exit_codes.CONFIGURATION
        assert "in a terminal with: amplifier trust. Without a terminal," in done.stderr
        assert "amplifier trust --digest DIGEST" in done.stderr
        assert "No such device" not in done.stderr


def test_a_change_is_explained_by_who_trusted_what_before(project: Project, home: Path) -> None:
    """And shown with what would be lost first."""
    project({"text": "hi"}, hooks=["hooks-injection-guard"])
    trust_project(home)
    project({"text": "hi"}, trusted=False)
    material, store = look_at(home), TrustStore()
    assert "changed since tester trusted it on" in explain(material, store)
    first, _, rest = describe(material, store).partition("\n\n")
    assert first.startswith("Trust what has changed since tester trusted it on")
    assert rest.startswith("Weaker than before:\n  hooks-injection-guard would be gone")
