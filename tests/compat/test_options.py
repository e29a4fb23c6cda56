"""Ids that this project shares with modules of the ecosystem: who is mounted, with which options.

Plans that were written for those modules start on ours: what means the same is understood, of the
rest the person is told. Guards refuse what they do not know.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_core.loader import ModuleLoader
from amplifier_core.testing import MemoryAudit, RecordingDisplay, TestCoordinator
from tests.support.harness import finish
from tests.support.modules import GOOD_HOOKS, imports_undone, write_distribution, write_package

SHARED = [
    "context-simple", "loop-basic", "loop-streaming", "hooks-backup", "hooks-logging", "hooks-otel",
    "hooks-redaction", "hooks-progress-monitor", "hooks-session-naming", "hooks-todo-display",
    "tool-bash", "tool-delegate", "tool-filesystem", "tool-search", "tool-todo",
]  # fmt: skip
GUARDS = {
    "hooks-redaction": {},
    "hooks-command-guard": {},
    "hooks-production-guard": {},
    "hooks-cost-control": {},
    "hooks-rate-limit": {"tools": {"*": {"calls": 1}}},
    "hooks-rules": {},
    "hooks-shell": {},
}


@pytest.fixture(autouse=True)
def _undo_imports() -> Iterator[None]:
    with imports_undone():
        yield


@pytest.fixture
def screen() -> RecordingDisplay:
    return RecordingDisplay()


@pytest.fixture
def coordinator(tmp_path: Path, screen: RecordingDisplay) -> TestCoordinator:
    found = TestCoordinator(display_system=screen, audit=MemoryAudit())
    found.register_capability("session.working_dir", str(tmp_path))
    return found


async def mount(coordinator: TestCoordinator, module_id: str, **config: Any) -> Any:
    return await (await ModuleLoader().load(module_id, config))(coordinator)


@pytest.mark.parametrize("way", ["entry point", "package"])
@pytest.mark.parametrize("module_id", SHARED)
def test_whoever_is_installed_is_mounted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module_id: str, way: str
) -> None:
    """Ours serve where nobody else does."""
    ours = ModuleLoader().find(module_id)
    package = write_package(tmp_path, module_id, GOOD_HOOKS)
    if way == "entry point":
        write_distribution(tmp_path, "theirs", {module_id: f"{package.name}:mount"})
    monkeypatch.syspath_prepend(str(tmp_path))
    theirs = ModuleLoader().find(module_id)
    assert theirs.mount is not ours.mount
    assert theirs.origin.startswith(package.name)


@pytest.mark.parametrize("module_id", [one for one in SHARED if one not in GUARDS])
async def test_an_option_of_another_module_is_told_of(
    coordinator: TestCoordinator, screen: RecordingDisplay, module_id: str
) -> None:
    """The module is mounted, and the option has no effect."""
    cleanup = await mount(coordinator, module_id, option_of_theirs="x")
    [(shown, level, source)] = screen.messages
    assert shown.startswith(f"{module_id}: unknown option 'option_of_theirs' is ignored; ")
    assert (level, source) == ("warning", module_id)
    await finish(cleanup)


@pytest.mark.parametrize("option", ["option_of_theirs", "rules_of_theirs", "allowlist"])
@pytest.mark.parametrize("module_id", GUARDS)
async def test_a_guard_refuses_what_it_does_not_know(
    coordinator: TestCoordinator, screen: RecordingDisplay, module_id: str, option: str
) -> None:
    """One that is misspelt could be what makes it guard."""
    needed: dict[str, Any] = GUARDS[module_id]
    with pytest.raises(ModuleLoadError, match=f"{module_id}: .*unknown option '{option}'"):
        await mount(coordinator, module_id, **needed, **{option: ["x"]})
    assert coordinator.hooks.list_handlers() == {}
    assert screen.messages == []


@pytest.mark.parametrize("module_id", ["loop-basic", "loop-streaming"])
@pytest.mark.parametrize(
    ("option", "value", "ours"),
    [("max_iterations", 7, "max_turns"), ("default_provider", "second", "provider")],
)
async def test_loops_understand_what_loops_are_told(
    coordinator: TestCoordinator,
    screen: RecordingDisplay,
    module_id: str,
    option: str,
    value: Any,
    ours: str,
) -> None:
    """The limit of requests, and the provider to ask."""
    await mount(coordinator, module_id, **{option: value})
    assert getattr(coordinator.get("orchestrator").config, ours) == value
    assert screen.messages == []


async def test_the_context_understands_when_to_compact(
    coordinator: TestCoordinator, screen: RecordingDisplay
) -> None:
    """A share of the budget."""
    await mount(coordinator, "context-simple", max_tokens=100, compact_threshold=0.5)
    context = coordinator.get("context")
    context.add_message("user", "x" * 4 * 60)
    assert context.should_compact()
    assert screen.messages == []


async def test_the_log_understands_where_it_is(
    coordinator: TestCoordinator, screen: RecordingDisplay, tmp_path: Path
) -> None:
    """A template of its path."""
    template = str(tmp_path / "{project}" / "{session_id}.jsonl")
    cleanup = await mount(coordinator, "hooks-logging", session_log_template=template)
    await coordinator.hooks.emit("tool:pre", {"tool_name": "Read"})
    await finish(cleanup)
    assert (tmp_path / tmp_path.name / f"{coordinator.session_id}.jsonl").is_file()
    assert screen.messages == []


async def test_backups_understand_where_they_go(
    coordinator: TestCoordinator, screen: RecordingDisplay, tmp_path: Path
) -> None:
    """A folder."""
    (tmp_path / "file").write_text("old")
    cleanup = await mount(coordinator, "hooks-backup", backup_dir="copies")
    call = {"tool_name": "Write", "tool_input": {"file_path": "file", "content": "new"}}
    await coordinator.hooks.emit("tool:pre", call)
    assert any((tmp_path / "copies").rglob("content"))
    assert screen.messages == []
    await finish(cleanup)


async def test_file_tools_understand_where_they_may_write(
    coordinator: TestCoordinator, screen: RecordingDisplay, tmp_path: Path
) -> None:
    """Only there; a restriction is never one of the options without effect."""
    (tmp_path / "out").mkdir()
    await mount(coordinator, "tool-filesystem", allowed_write_paths=["out"])
    write = coordinator.get("tools", "Write")
    assert (await write.execute({"file_path": "out/a", "content": "x"})).success
    assert not (await write.execute({"file_path": "a", "content": "x"})).success
    assert screen.messages == []


@pytest.mark.parametrize(
    ("module_id", "tool", "given"),
    [
        ("tool-bash", "Bash", {"command": "ls"}),
        ("tool-search", "Glob", {"pattern": "*"}),
        ("tool-filesystem", "Read", {"file_path": "found.txt"}),
    ],
)
async def test_tools_understand_where_they_work(
    coordinator: TestCoordinator,
    screen: RecordingDisplay,
    tmp_path: Path,
    module_id: str,
    tool: str,
    given: dict[str, Any],
) -> None:
    """Another folder than the session's."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "found.txt").write_text("found\n")
    await mount(coordinator, module_id, working_dir="sub")
    result = await coordinator.get("tools", tool).execute(given)
    assert "found" in result.output, result.error
    assert screen.messages == []


@pytest.mark.parametrize("module_id", ["provider-anthropic", "provider-openai"])
async def test_providers_understand_which_model_and_how_much(
    coordinator: TestCoordinator, screen: RecordingDisplay, module_id: str
) -> None:
    """The model, and the longest reply."""
    options = {"api_key": "none", "default_model": "m", "max_tokens": 77, "debug": True}
    cleanup = await mount(coordinator, module_id, **options)
    [provider] = coordinator.get("providers").values()
    assert (provider.config.model, provider.config.max_output_tokens) == ("m", 77)
    [(shown, _, _)] = screen.messages
    assert shown.startswith(f"{module_id}: unknown option 'debug' is ignored; ")
    await finish(cleanup)
