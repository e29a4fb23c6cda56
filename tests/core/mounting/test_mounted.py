"""Modules: found by path, entry point or package name; mounted, moved, undone."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError, ModuleNotFound
from amplifier_core.interfaces import hook
from amplifier_core.mounting import ModuleLoader, Mounting
from amplifier_core.session import AmplifierSession
from amplifier_core.testing import TestCoordinator
from tests.support.sessions import SessionHarness, plan_for

MODULE = """
from amplifier_core.models import HookResult

async def quiet(event, data):
    return HookResult(action="continue")

async def mount(coordinator, config):
    coordinator.mounted_with = config
    coordinator.hooks.register("tool:pre", quiet, name="quiet", priority=3)
    def undo():
        coordinator.undone.append(config.get("name"))
    return undo

async def on_session_ready(coordinator):
    coordinator.ready = True
"""

PLAIN = """
from amplifier_core.interfaces import hook
from amplifier_core.models import HookResult

@hook("tool:pre", "tool:post", priority=7, on_error="deny")
async def guard(event, data):
    return HookResult(action="continue")

async def on_session_start(event, data):
    return HookResult(action="continue")

async def helper(event, data):
    return None
"""


@pytest.fixture
def mounting(tmp_path: Path) -> Mounting:
    coordinator: Any = TestCoordinator()
    coordinator.undone = []
    return Mounting(coordinator, ModuleLoader(tmp_path))


def board(mounting: Mounting) -> Any:
    return mounting._coordinator


def written(folder: Path, name: str, text: str) -> str:
    file = folder / name
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text(text)
    return name


async def test_a_file_is_mounted_with_its_config_and_told_when_all_is_ready(
    mounting: Mounting, tmp_path: Path
) -> None:
    """`mount(coordinator, config)`, a file by path, `on_session_ready`, clean-up."""
    source = written(tmp_path, "mine.py", MODULE)
    entry = {"module": "mine", "source": source, "config": {"name": "a"}}
    outcome = await mounting.mount("hooks", entry)
    assert outcome.error is None
    assert board(mounting).mounted_with == {"name": "a"}
    assert board(mounting).hooks.list_handlers("tool:pre") == {"tool:pre": ["quiet"]}
    await mounting.ready()
    assert board(mounting).ready is True
    await mounting.unmount_all()
    assert board(mounting).undone == ["a"]
    assert board(mounting).hooks.list_handlers("tool:pre") == {"tool:pre": []}


async def test_the_module_key_may_be_the_path_itself(mounting: Mounting, tmp_path: Path) -> None:
    """Also a file by path."""
    written(tmp_path, "mine.py", MODULE)
    assert (await mounting.mount("hooks", "./mine.py")).error is None


async def test_a_folder_is_a_module_and_its_parts_can_be_imported(
    mounting: Mounting, tmp_path: Path
) -> None:
    """Also a folder by path."""
    written(tmp_path, "pack/__init__.py", "from .part import mount\n")
    written(tmp_path, "pack/part.py", MODULE)
    assert (await mounting.mount("hooks", {"module": "pack", "source": "pack/"})).error is None


async def test_a_plain_file_registers_its_marked_and_named_functions(
    mounting: Mounting, tmp_path: Path
) -> None:
    """Also a plain Python file with hook functions: @hook, or on_<event>."""
    source = written(tmp_path, "plain.py", PLAIN)
    await mounting.mount("hooks", {"module": "plain", "source": source})
    have = board(mounting).hooks.list_handlers()
    assert have == {
        "tool:pre": ["guard"],
        "tool:post": ["guard"],
        "session:start": ["on_session_start"],
    }
    (record,) = board(mounting).hooks.handlers_for("tool:pre")
    assert (record.priority, record.on_error) == (7, "deny")
    await mounting.unmount_all()
    assert board(mounting).hooks.list_handlers() == {}


async def test_a_plain_file_takes_no_config(mounting: Mounting, tmp_path: Path) -> None:
    """Bad input gets a clear error."""
    source = written(tmp_path, "plain.py", PLAIN)
    entry = {"module": "plain", "source": source, "config": {"x": 1}}
    outcome = await mounting.mount("hooks", entry)
    assert outcome.error == "Module 'plain' takes no config, got ['x']"


async def test_a_changed_file_is_read_again(mounting: Mounting, tmp_path: Path) -> None:
    """Hot reload reads what is on disk now."""
    source = written(tmp_path, "plain.py", PLAIN)
    await mounting.mount("hooks", {"module": "plain", "source": source})
    await mounting.unmount_all()
    written(tmp_path, "plain.py", "async def on_tool_error(event, data): ...\n")
    await mounting.mount("hooks", {"module": "plain", "source": source})
    assert board(mounting).hooks.list_handlers() == {"tool:error": ["on_tool_error"]}


async def test_the_plan_can_move_a_modules_hooks(mounting: Mounting, tmp_path: Path) -> None:
    """hooks (module, config, priority, enabled): the priority of the plan wins."""
    source = written(tmp_path, "mine.py", MODULE)
    await mounting.mount("hooks", {"module": "mine", "source": source, "priority": 50})
    (record,) = board(mounting).hooks.handlers_for("tool:pre")
    assert record.priority == 50


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("syntax error here", "cannot be imported: SyntaxError"),
        ("import nothing_of_that_name", "cannot be imported: ModuleNotFoundError"),
        ("x = 1", "has no mount"),
        ("async def mount(c, k): raise RuntimeError('boom')", "cannot be mounted: RuntimeError"),
    ],
)
async def test_a_broken_module_is_reported_with_its_reason(
    mounting: Mounting, tmp_path: Path, text: str, why: str
) -> None:
    """A module that fails to load is reported with its reason and left out."""
    source = written(tmp_path, "bad.py", text)
    outcome = await mounting.mount("hooks", {"module": "bad", "source": source})
    assert why in (outcome.error or "")
    await mounting.ready()
    with pytest.raises(ModuleLoadError, match=why):
        await mounting.mount("hooks", {"module": "bad", "source": source, "required": True})


async def test_a_module_that_fails_half_way_leaves_no_hook_behind(
    mounting: Mounting, tmp_path: Path
) -> None:
    """Left out means left out."""
    half = (
        "async def mount(c, k):\n"
        "    c.hooks.register('tool:pre', lambda e, d: None)\n"
        "    raise ValueError('half')\n"
    )
    source = written(tmp_path, "half.py", half)
    outcome = await mounting.mount("hooks", {"module": "half", "source": source})
    assert "half" in (outcome.error or "")
    assert board(mounting).hooks.list_handlers() == {}


@pytest.mark.parametrize("source", ["gone.py", "some/folder"])
async def test_a_missing_file_is_named(mounting: Mounting, source: str) -> None:
    """No module answers to that path."""
    outcome = await mounting.mount("hooks", {"module": "gone", "source": source})
    assert outcome.error == f"Module 'gone': there is no file or folder {source!r}"


async def test_a_folder_without_code_is_no_module(mounting: Mounting, tmp_path: Path) -> None:
    """A folder needs an __init__.py."""
    (tmp_path / "empty").mkdir()
    outcome = await mounting.mount("hooks", {"module": "empty", "source": "empty/"})
    assert "is no Python module" in (outcome.error or "")


async def test_an_unknown_id_lists_the_known_ones() -> None:
    """Unknown module; have [...]."""
    with pytest.raises(ModuleNotFound, match=r"Unknown module 'hooks-x'; have \[.*'loop-basic'"):
        ModuleLoader().find("hooks-x")


@pytest.mark.parametrize("path", ["./gone.py", "../gone", "/gone/away.py", "~/gone"])
async def test_a_path_that_leads_nowhere_is_not_taken_for_an_id(path: str) -> None:
    """No file behind a path: said so, without a list of ids that nobody meant."""
    with pytest.raises(ModuleNotFound, match=r"^There is no file or folder '"):
        ModuleLoader().find(path)


async def test_packages_of_the_ecosystem_are_found_by_their_name(
    mounting: Mounting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Entry points first, then import amplifier_module_<id with underscores>."""
    written(tmp_path, "amplifier_module_my_hooks.py", MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    source = "git+https://example.invalid/repo"
    outcome = await mounting.mount("hooks", {"module": "my-hooks", "source": source})
    assert outcome.error is None
    assert outcome.origin == "amplifier_module_my_hooks"


async def test_a_package_that_does_not_import_is_reported(
    mounting: Mounting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is there, but it does not load."""
    written(tmp_path, "amplifier_module_bad_one.py", "raise RuntimeError('no')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    outcome = await mounting.mount("hooks", "bad-one")
    assert "cannot be imported: RuntimeError: no" in (outcome.error or "")


async def test_an_entry_point_that_does_not_import_is_reported(
    mounting: Mounting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dangling entry point names itself."""
    from importlib.metadata import EntryPoint

    dangling = EntryPoint("ghost", "no_such_package:mount", "amplifier.modules")
    monkeypatch.setattr(mounting.loader, "_entry_points", {"ghost": dangling})
    outcome = await mounting.mount("hooks", "ghost")
    assert "Module 'ghost' cannot be imported" in (outcome.error or "")


async def test_an_undo_or_a_ready_that_fails_does_not_stop_the_others(
    mounting: Mounting, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Clean-up in reverse order, whatever one of them raises."""
    fails = MODULE.replace('coordinator.undone.append(config.get("name"))', "raise OSError('x')")
    fails = fails.replace("coordinator.ready = True", "raise OSError('y')")
    async_undo = MODULE.replace("    def undo", "    async def undo")
    for name, text in (("a", MODULE), ("b", fails), ("c", async_undo)):
        source = written(tmp_path, f"{name}.py", text)
        entry = {"module": name, "source": source, "config": {"name": name}}
        await mounting.mount("hooks", entry)
    await mounting.ready()
    await mounting.unmount_all()
    assert board(mounting).undone == ["c", "a"]
    assert "on_session_ready failed: OSError: y" in caplog.text
    assert "The clean-up of module 'b' failed" in caplog.text


def test_marking_needs_the_names_of_events() -> None:
    """@hook without events says what it needs."""
    with pytest.raises(TypeError, match="@hook needs the names of events"):
        hook()


async def test_every_module_of_the_package_can_be_found() -> None:
    """The entry points of this distribution point at something that mounts."""
    loader = ModuleLoader()
    for module_id in loader.known():
        if module_id.startswith(("loop-", "context-", "tool-", "hooks-", "provider-")):
            assert callable(loader.find(module_id).mount), module_id


@pytest.mark.parametrize("entry", [42, {}, {"config": {}}, None])
async def test_an_entry_without_a_module_is_named(entry: Any) -> None:
    """Bad input gets a clear sentence."""
    session = AmplifierSession({**plan_for([]), "tools": [entry]})
    with pytest.raises(ModuleLoadError, match="An entry of tools names its module, got"):
        await session.initialize()


async def test_what_a_failing_module_had_mounted_is_taken_back(tmp_path: Any) -> None:
    """A module that fails half way leaves nothing behind."""
    half = tmp_path / "half.py"
    half.write_text(
        "from amplifier_core.testing import EventRecorder, MockTool\n"
        "async def mount(coordinator, config):\n"
        "    coordinator.hooks.register('tool:pre', EventRecorder(), name='half')\n"
        "    await coordinator.mount('tools', MockTool('Half'))\n"
        "    raise OSError('no network')\n"
    )
    async with SessionHarness([{"text": "ok"}], tool_modules=[{"module": str(half)}]) as harness:
        assert harness.coordinator.get("tools") == {}
        assert "half" not in str(harness.hooks.list_handlers())


async def test_a_clean_up_that_hangs_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing hangs, and an undone module is undone once."""
    from amplifier_core.mounting import mounted as mounting

    monkeypatch.setattr(mounting, "PATIENCE", 0.05)
    harness = SessionHarness([])
    await harness.session.initialize()
    mounted = harness.session.mounting.mounted[0]
    mounted.undo = lambda: asyncio.sleep(60)
    async with asyncio.timeout(5):
        await harness.session.cleanup()
    assert mounted.undo is None


async def test_an_id_that_is_no_name_is_an_unknown_module() -> None:
    """Unknown module, with the known ones, whatever the id looks like."""
    harness = SessionHarness([], hooks=[{"module": "a.b.c", "required": True}])
    with pytest.raises(ModuleLoadError, match=r"Unknown module 'a\.b\.c'; have"):
        await harness.session.initialize()


async def test_a_plain_mount_function_is_accepted(tmp_path: Any) -> None:
    """mount is async by contract; a plain one works too."""
    plain = tmp_path / "plain.py"
    plain.write_text(
        "from amplifier_core.testing import EventRecorder\n"
        "def mount(coordinator, config):\n"
        "    return coordinator.hooks.register('tool:pre', EventRecorder(), name='plain')\n"
    )
    async with SessionHarness([], hooks=[{"module": str(plain)}]) as harness:
        assert "plain" in str(harness.hooks.list_handlers())


async def test_a_module_may_be_told_plainly_that_all_is_ready(tmp_path: Any) -> None:
    """on_session_ready may be a plain function."""
    told = tmp_path / "told.py"
    told.write_text(
        "async def mount(coordinator, config):\n    return None\n"
        "def on_session_ready(coordinator):\n    coordinator.session_state['ready'] = True\n"
    )
    async with SessionHarness([], tool_modules=[{"module": str(told)}]) as harness:
        assert harness.coordinator.session_state["ready"] is True
