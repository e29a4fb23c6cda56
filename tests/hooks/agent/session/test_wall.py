"""The wall of a session: what its bundle says, what the machine has, and what is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import SessionError
from amplifier_core.testing import ScriptedApproval
from amplifier_hooks.agent.session.capabilities import SandboxOptions, SessionWall, share_wall
from amplifier_hooks.guards.policy.protected_places import list_places
from amplifier_hooks.sandbox import protection
from amplifier_hooks.sandbox.landlock import query_abi
from amplifier_hooks.sandbox.protection import Protection
from tests.support.project import Project, script
from tests.support.sessions import calls

needs_landlock = pytest.mark.skipif(query_abi() < 1, reason="THIS KERNEL HAS NO LANDLOCK")
HOLDS = Protection("landlock", "Landlock (ABI 7)")
BASH = {"tools": ["tool-bash"]}


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that answers ENOSYS, and no other wall."""
    monkeypatch.setattr(protection, "query_abi", lambda: 0)
    monkeypatch.setattr(protection, "find_bubblewrap", lambda: None)
    protection._examine_bubblewrap.cache_clear()


def make_wall(root: Path, found: Protection = HOLDS, **options: Any) -> SessionWall:
    return SessionWall(SandboxOptions.read(options), [root], list_places([root]), found)


def test_a_missing_section_means_what_the_default_bundle_says() -> None:
    """As a bundle that inherits nothing has it."""
    assert SandboxOptions.read(None) == SandboxOptions("auto", "allow", "auto", "deny")
    assert SandboxOptions.read({"mode": "off", "write": ["x"]}).mode == "off"


@pytest.mark.parametrize(
    ("policy", "asked", "network"),
    [
        ("allow", None, "allow"),
        ("ask", None, "deny"),
        ("ask", True, "allow"),
        ("deny", None, "deny"),
    ],
)
def test_the_network_is_as_the_policy_and_the_person_say(tmp_path, policy, asked, network) -> None:
    """Asking means: not without an answer."""
    wall = make_wall(tmp_path, network=policy).build(network=asked)
    assert wall is not None
    assert wall.network == network


async def test_the_temporary_folder_is_private_and_goes_with_the_session(tmp_path) -> None:
    """One for all commands of a session, which nobody else can look into."""
    session_wall = make_wall(tmp_path)
    folder = session_wall.build().temporary
    assert folder == session_wall.build().temporary
    assert folder.stat().st_mode & 0o077 == 0
    (folder / "made").mkdir()
    await session_wall.close()
    assert not folder.exists()


def test_what_is_granted_is_granted_once(tmp_path) -> None:
    """The next wall is as before."""
    session_wall = make_wall(tmp_path)
    granted = session_wall.build(write=[Path("/opt")], unix_sockets=True)
    assert (granted.granted, granted.unix_sockets) == ((Path("/opt"),), True)
    assert Path("/opt") in granted.writable
    after = session_wall.build()
    assert (after.granted, after.unix_sockets) == ((), False)


def test_the_first_line_says_what_holds_and_what_does_not(tmp_path) -> None:
    """Also that a tool of somebody else does not use it."""
    whole = make_wall(tmp_path, network="deny")
    whole.join("Bash")
    line, level = whole.describe(["Bash"])
    assert level == "info"
    assert "Landlock (ABI 7)" in line
    assert str(tmp_path) in line
    assert "network denied" in line
    assert "not hold" not in line
    partly = make_wall(tmp_path, Protection("landlock", "Landlock (ABI 2)", lacks=("signals",)))
    line, level = partly.describe(["Bash"])
    assert level == "warning"
    assert "Does not hold here: signals; Bash does not use it." in line


@needs_landlock
async def test_a_session_says_first_what_walls_its_commands_in(project: Project) -> None:
    """Before anything else that it shows; silent if it cannot run commands."""
    async with project.session(project.bundle(**BASH)):
        text, level, source = project.screen.messages[0]
        assert (level, source) == ("info", "sandbox")
        assert text.startswith("Commands run behind Landlock")
    project.screen.messages.clear()
    async with project.session(project.bundle(tools=[])):
        assert project.shown("sandbox") == []


@pytest.mark.usefixtures("bare_machine")
async def test_a_machine_without_a_wall_says_so_loudly_and_once(project: Project) -> None:
    """It runs, because the bundle says `auto`."""
    reply = calls("Bash", command="echo ran")
    async with project.session(project.bundle(**BASH, providers=script(reply, "done"))) as session:
        assert await session.execute("go") == "done"
    (line,) = project.shown("sandbox")
    assert "NONE: commands can do anything that you can" in line
    assert "no Landlock" in line
    assert "bubblewrap is not installed" in line


@pytest.mark.usefixtures("bare_machine")
async def test_a_required_wall_that_is_not_there_stops_the_start(project: Project) -> None:
    """With the reason, and what would do."""
    with pytest.raises(SessionError, match="requires a sandbox") as refusal:
        async with project.session(project.bundle(**BASH, sandbox="required")):
            pass
    assert "no Landlock" in str(refusal.value)
    assert "sandbox: auto" in str(refusal.value)


async def test_a_wall_that_is_switched_off_is_told(project: Project) -> None:
    """YAML reads `off` as false, which means the same here."""
    async with project.session(project.bundle(**BASH, sandbox=False)) as session:
        assert session.coordinator.get_capability("session.wall").build() is None
    assert project.shown("sandbox") == ["Off: commands can do anything that you can."]


@needs_landlock
async def test_sub_agents_run_behind_the_wall_of_their_parent(
    project: Project, monkeypatch
) -> None:
    """Their commands write where its commands write, and nowhere else."""
    walls = []
    share = share_wall

    def watch(parent: Any, child: Any) -> None:
        share(parent, child)
        walls.append([one.coordinator.get_capability("session.wall") for one in (parent, child)])

    monkeypatch.setattr("amplifier_hooks.agent.session.assembly.share_wall", watch)
    agents = {"helper": {"description": "helps"}}
    replies = script(calls("Task", agent="helper", task="x"), "helped", "done")
    bundle = project.bundle(tools=["tool-bash"], agents=agents, providers=replies)
    async with project.session(bundle) as session:
        await session.coordinator.get_capability("session.spawn")("helper", "x")
    assert len(walls) == 1
    assert walls[0][0] is walls[0][1]


@needs_landlock
async def test_a_command_that_needs_more_asks_in_words_and_gets_exactly_that_once(
    project: Project, tmp_path: Path
) -> None:
    """The first is refused by the wall, the second asked about, the third refused again."""
    outside = tmp_path / "outside"
    outside.mkdir()
    command = f"echo x >> {outside}/file"
    needs = {"write": [str(outside)], "reason": "the report belongs there"}
    replies = script(
        calls("Bash", command=command),
        calls("Bash", command=command, needs=needs),
        calls("Bash", command=command),
        "done",
    )
    person = ScriptedApproval("Allow once")
    bundle = project.bundle(**BASH, providers=replies)
    async with project.session(bundle, approval_system=person) as session:
        await session.execute("go")
        results = [m["content"] for m in session.context.get_messages() if m["role"] == "tool"]
    assert (outside / "file").read_text() == "x\n"
    (prompt,) = person.prompts
    assert command in prompt
    assert f"write below {outside}" in prompt
    assert "the report belongs there" in prompt
    assert person.questions[0].options == ("Allow once", "Deny")
    assert "The sandbox may be the reason" in str(results[0])
    assert "The sandbox may be the reason" in str(results[2])


@needs_landlock
@pytest.mark.parametrize("person", [None, ScriptedApproval("Deny")])
async def test_without_a_yes_there_is_no_more(project: Project, tmp_path: Path, person) -> None:
    """Nobody there, or somebody who says no."""
    outside = tmp_path / "outside"
    outside.mkdir()
    needs = {"write": [str(outside)], "reason": "please"}
    reply = calls("Bash", command=f"touch {outside}/file", needs=needs)
    bundle = project.bundle(**BASH, providers=script(reply, "done"))
    async with project.session(bundle, approval_system=person) as session:
        await session.execute("go")
    assert list(outside.iterdir()) == []
