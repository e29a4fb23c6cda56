"""What a person decides covers exactly what they read, with the guards that people use."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.approval import ApprovalQuestion
from amplifier_core.testing import MockTool, ScriptedApproval
from amplifier_hooks.guards import production_guard
from tests.support.harness import Harness
from tests.support.hooks import asks
from tests.support.people import PlainPerson
from tests.support.sessions import SessionHarness

GUARDED = {"patterns": ["production/**"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("staging", "production"):
        (tmp_path / name).mkdir()
    (tmp_path / "target").symlink_to("staging")
    return tmp_path


def swap_link(folder: Path) -> None:
    (folder / "next").symlink_to("production")
    (folder / "next").rename(folder / "target")


@pytest.mark.parametrize("action", ["deny", "ask_user"])
async def test_a_link_that_is_swapped_while_a_question_waits_is_seen(
    folder: Path, action: str
) -> None:
    """The guard saw a harmless path; before the call runs it looks where the path leads now."""
    write = MockTool("Write")

    def answer(question: ApprovalQuestion) -> str:
        if question.hook == "other":
            swap_link(folder)
            return "Allow"
        return "Deny"

    approval = ScriptedApproval(answer)
    async with SessionHarness(tools=[write], approval=approval, working_dir=folder) as harness:
        await production_guard.mount(harness.coordinator, {**GUARDED, "action": action})
        harness.hooks.register("tool:pre", asks("Write it?"), name="other", priority=1)
        call = {"file_path": str(folder / "target" / "config.yaml"), "content": "x"}
        result = await harness.session.execute_tool("Write", call)
    assert result.denied
    assert "production" in str(result.error)
    assert write.calls == []
    assert len(approval.questions) == (1 if action == "deny" else 2)


async def test_always_for_one_write_is_not_always_for_another(folder: Path) -> None:
    """The path is the same and so is the question of a simple guard; what is written is not."""
    person = PlainPerson("Allow always")
    harness = Harness(folder, approval=person)
    path = str(folder / "production" / "config.yaml")
    async with harness.mounted("production_guard", GUARDED):
        for content in ("debug: false", "debug: false", "debug: true"):
            result = await harness.pre("Write", file_path=path, content=content)
            assert result.action == "continue"
    assert len(person.asked) == 2


async def test_always_for_one_command_is_not_always_for_its_beginning(folder: Path) -> None:
    """Two commands that are alike for as long as the question shows them are two commands."""
    person = PlainPerson("Allow always")
    harness = Harness(folder, approval=person)
    same = "deploy " + "x" * 5_000
    async with harness.mounted("command_guard", {"ask": ["deploy"]}):
        for command in (same + "a", same + "a", same + "b"):
            assert (await harness.pre("Bash", command=command)).action == "continue"
    assert len(person.asked) == 2
