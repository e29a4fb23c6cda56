"""What the recipes promise to stop, and what they must let pass, one spelling at a time."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from amplifier_core import HookResult
from amplifier_core.testing import RecordingDisplay, ScriptedApproval
from amplifier_hooks import load_bundle, open_session
from tests.support.harness import Harness

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


async def ask_rules(
    recipe: str, command: str, folder: Path, tool: str = "Bash", **rule: Any
) -> HookResult:
    """What the rules of a recipe answer to a command; `rule` adds to the first of them."""
    bundle = yaml.safe_load((EXAMPLES / recipe / "amplifier.yaml").read_text())
    config = next(one["config"] for one in bundle["hooks"] if one["module"] == "hooks-rules")
    config["rules"][0].update(rule)
    harness = Harness(folder)
    await harness.mount("rules", config)
    return await harness.answer(tool, {"command": command})


@pytest.mark.parametrize(
    "command",
    [
        "git push -f",
        "git -C sub push -uf origin main",
        "git push --forc origin",
        "git push --force-with-lease=main",
        "git push origin +main",
        "git push origin :main",
        "git push --mirror",
        "git send-pack --force origin",
        "/usr/lib/git-core/git-push -f",
        'bash -c "git push -f"',
        "sudo git push -f",
        "git pu''sh -f",
        "true && (cd x; env A=1 git push -d origin main)",
    ],
)
async def test_no_spelling_of_a_force_push_passes(command: str, tmp_path: Path) -> None:
    """Block force pushes: the command is read as bash reads it."""
    for tool in ("Bash", "mcp__shell__run"):
        assert (await ask_rules("block-force-pushes", command, tmp_path, tool)).action == "deny"


@pytest.mark.parametrize("command", ["git push", "git push origin main", "git commit -m 'push -f'"])
async def test_an_ordinary_push_passes(command: str, tmp_path: Path) -> None:
    """Block force pushes: nothing else is in the way."""
    assert (await ask_rules("block-force-pushes", command, tmp_path)).action == "continue"


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("git push -u origin agent/fix", "continue"),
        ("cd x && git push --force-with-lease origin agent/fix-1", "continue"),
        ("git status; git log -1", "continue"),
        ("git push", "deny"),
        ("git push origin main", "deny"),
        ("git push --force-with-lease origin agent/x main", "deny"),
        ("git push --force-with-lease origin agent/x:main", "deny"),
        ("git push origin $BRANCH", "deny"),
        ("git-push origin main", "deny"),
        ("git subtree push --prefix x origin main", "deny"),
    ],
)
async def test_only_branches_of_the_agent_are_pushed(command: str, action: str) -> None:
    """The hook of the same recipe has a list of what is allowed."""
    path = EXAMPLES / "block-force-pushes" / "push_own_branches.py"
    guard = runpy.run_path(str(path))["push_own_branches"]
    answer = await guard("tool:pre", {"tool_name": "Bash", "tool_input": {"command": command}})
    assert answer.action == action


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("make -C infra deploy", "ask_user"),
        ("npm run deploy:eu", "ask_user"),
        ("sh -c ./deploy.sh", "ask_user"),
        ("bash deploy.sh eu", "ask_user"),
        ("nohup bin/deploy &", "ask_user"),
        ("kubectl --context eu apply -f x", "ask_user"),
        ("make $TARGET", "ask_user"),
        ("cat deploy.sh", "continue"),
        ("grep -r deploy .", "continue"),
        ("make test", "continue"),
    ],
)
async def test_a_deployment_is_asked_about_and_reading_is_not(
    command: str, action: str, tmp_path: Path
) -> None:
    """Ask before deploys, whatever the command is wrapped in."""
    assert (await ask_rules("ask-before-deploys", command, tmp_path)).action == action


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("deploy staging-2", "continue"),
        ("deploy staging; deploy live", "ask_user"),
        ("deploy staging live", "ask_user"),
    ],
)
async def test_an_exception_for_staging_is_for_staging_only(
    command: str, action: str, tmp_path: Path
) -> None:
    """The exception that the page of Ask before deploys shows."""
    unless = {"command": ["*deploy* staging*"]}
    answer = await ask_rules("ask-before-deploys", command, tmp_path, unless=unless)
    assert answer.action == action


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("write to jürgen@müller.example.de", "write to [REDACTED:email]"),
        ("call +44 20 7946 0018 now", "call [REDACTED:phone] now"),
        ("card 4111-1111-1111-1111", "card [REDACTED:card]"),
        ("K-204417 paid", "[REDACTED:customer] paid"),
        ("GB29 NWBK 6016 1331 9268 19", "[REDACTED:iban]"),
        ("git@host.example.org:a/b and me@example.com", None),
        ("order 20261117194826 at 12:34", None),
    ],
)
async def test_what_customers_have_is_replaced_and_nothing_else(
    text: str, left: str | None, tmp_path: Path
) -> None:
    """Redact customer data: the patterns of the recipe."""
    bundle = yaml.safe_load((EXAMPLES / "redact-customer-data" / "amplifier.yaml").read_text())
    harness = Harness(tmp_path)
    await harness.mount("redaction", bundle["hooks"][0]["config"])
    answer = await harness.hooks.emit("prompt:submit", {"prompt": text})
    assert (answer.data or {})["prompt"] == (text if left is None else left)


async def test_what_a_person_allows_is_deployed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other way that Ask before deploys can go."""
    folder = Path(shutil.copytree(EXAMPLES / "ask-before-deploys", tmp_path / "deploys"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    person = ScriptedApproval("Allow once")
    session = await open_session(
        load_bundle(project_dir=folder, user=False),
        approval_system=person,
        display_system=RecordingDisplay(),
        working_dir=folder,
    )
    try:
        await session.execute("ship it")
        results = [
            one["content"] for one in (await session.state())["messages"] if one["role"] == "tool"
        ]
    finally:
        await session.cleanup()
    assert person.prompts == ["Deploy with cd . && ./deploy.sh eu-west?"]
    assert "deployed to eu-west" in str(results)
