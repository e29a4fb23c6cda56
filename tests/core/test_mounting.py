"""Mounting the modules of a plan, and what is said of those that fail."""

from __future__ import annotations

import asyncio
import logging
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core import mounting as book
from amplifier_core.errors import ModuleLoadError, ModuleNotFound, ModuleValidationError
from amplifier_core.loader import ModuleLoader
from amplifier_core.models import HookResult
from amplifier_core.mount_plan import ModuleEntry
from amplifier_core.mounting import (
    Mounting,
    call_application,
    load_entry,
    make_fatal,
    read_failure,
    report_failure,
    report_unready,
    resolve_provider,
)
from amplifier_core.testing import EventRecorder, MockTool, RecordingDisplay, TestCoordinator
from tests.core.module_files import MODULE, TOOLS, write
from tests.support.modules import imports_undone, write_package


@pytest.fixture
def coordinator() -> TestCoordinator:
    return TestCoordinator()


@pytest.fixture
def mounting(coordinator: TestCoordinator, tmp_path: Path) -> Mounting:
    return Mounting(coordinator, ModuleLoader(base=tmp_path))


def entry(folder: Path, name: str, text: str = MODULE, **more: Any) -> dict[str, Any]:
    """The entry of a module that is written for it."""
    return {"module": name, "source": write(folder, f"{name}.py", text), **more}


async def test_a_module_gets_its_config_is_told_when_all_is_ready_and_is_undone(
    coordinator: TestCoordinator, mounting: Mounting, tmp_path: Path
) -> None:
    """The life of a module: mount, ready, clean-up; then nothing of it is left."""
    outcome = await mounting.mount("hooks", entry(tmp_path, "mine", config={"name": "a"}))
    notes = coordinator.session_state
    assert (outcome.id, outcome.kind, outcome.error) == ("mine", "hooks", None)
    assert notes["config"] == {"name": "a"}
    assert [handler.name for handler in outcome.handlers] == ["quiet"]
    assert "ready" not in notes
    await mounting.ready()
    assert notes["ready"] is True
    await mounting.unmount_all()
    assert notes["undone"] == ["a"]
    assert not any(coordinator.hooks.list_handlers().values())
    assert mounting.mounted == []


async def test_a_module_cannot_change_the_plan_through_its_config(
    mounting: Mounting, tmp_path: Path
) -> None:
    """It gets a dict of its own."""
    greedy = "async def mount(coordinator, config):\n    config.clear()\n"
    given = entry(tmp_path, "greedy", greedy, config={"a": 1})
    outcome = await mounting.mount("tools", given)
    assert outcome.entry.config == given["config"] == {"a": 1}


@pytest.mark.parametrize("form", ["text", "mapping", "entry"])
async def test_an_entry_may_have_any_form(mounting: Mounting, tmp_path: Path, form: str) -> None:
    """A bare id, a mapping, or an entry that was read already."""
    write(tmp_path, "mine.py", MODULE)
    forms = {
        "text": "./mine.py",
        "mapping": {"module": "./mine.py"},
        "entry": ModuleEntry(module="./mine.py"),
    }
    outcome = await mounting.mount("hooks", forms[form])  # type: ignore[arg-type]
    assert outcome.entry == ModuleEntry(module="./mine.py")
    assert outcome.failure is None


async def test_the_book_has_what_each_module_mounted(
    coordinator: TestCoordinator, mounting: Mounting, tmp_path: Path
) -> None:
    """A tool belongs to the module that mounted it, one that was there before to nobody."""
    await coordinator.mount("tools", MockTool("Old"))
    first = await mounting.mount("tools", entry(tmp_path, "a", TOOLS, config={"names": ["A", "B"]}))
    second = await mounting.mount("tools", entry(tmp_path, "b", TOOLS, config={"names": ["B"]}))
    assert set(first.objects["tools"]) == {"A", "B"}
    assert set(second.objects["tools"]) == {"B"}
    assert second.objects["tools"]["B"] is coordinator.get("tools", "B")
    assert first.objects["providers"] == {}


async def test_the_plan_can_move_a_modules_hooks(
    coordinator: TestCoordinator, mounting: Mounting, tmp_path: Path
) -> None:
    """The priority of the plan wins over the module's own."""
    await mounting.mount("hooks", entry(tmp_path, "mine", priority=50))
    (handler,) = coordinator.hooks.handlers_for("tool:pre")
    assert handler.priority == 50


@pytest.mark.parametrize(("kind", "shadows"), [("hooks", True), ("tools", False)])
async def test_only_an_entry_of_hooks_can_be_put_into_shadow(
    coordinator: TestCoordinator, mounting: Mounting, tmp_path: Path, kind: str, shadows: bool
) -> None:
    """The guard that a tool brings along is not taken away by a word in the tool's entry."""
    await mounting.mount(kind, entry(tmp_path, "mine", mode="shadow"))
    (handler,) = coordinator.hooks.handlers_for("tool:pre")
    assert handler.shadow is shadows
    assert coordinator.mounting is None


async def test_a_mode_that_there_is_not_is_refused(mounting: Mounting, tmp_path: Path) -> None:
    """With the modes that there are."""
    with pytest.raises(ModuleLoadError, match=r"mode: .*'enforce' or 'shadow', got 'shadwo'"):
        await mounting.mount("hooks", entry(tmp_path, "mine", mode="shadwo"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("syntax error here", "cannot be imported: SyntaxError"),
        ("x = 1", "has no mount"),
        ("async def mount(c, k): raise RuntimeError('boom')", "cannot be mounted: RuntimeError"),
        ("def mount(c, k): raise KeyError('port')", "cannot be mounted: KeyError"),
    ],
)
async def test_a_broken_module_is_left_out_with_its_reason(
    mounting: Mounting, tmp_path: Path, text: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Noted in the book and in the log; raised if the plan cannot do without it."""
    given = entry(tmp_path, "bad", text)
    outcome = await mounting.mount("hooks", given)
    assert why in (outcome.error or "")
    assert isinstance(outcome.failure, ModuleLoadError)
    assert caplog.messages == [f"{outcome.error}; it is left out"]
    await mounting.ready()
    with pytest.raises(ModuleLoadError, match=why) as caught:
        await mounting.mount("hooks", {**given, "required": True})
    assert (caught.value.module_id, caught.value.__cause__ is not None) == ("bad", True)
    assert mounting.mounted == [outcome]


async def test_an_unknown_module_keeps_what_there_is_to_choose_from(mounting: Mounting) -> None:
    """The error is kept beside its text, so that nobody has to read it out of the text."""
    outcome = await mounting.mount("hooks", "hooks-nonsense")
    assert isinstance(outcome.failure, ModuleNotFound)
    assert outcome.failure.module_id == "hooks-nonsense"
    assert "hooks-rules" in outcome.failure.known


@pytest.mark.parametrize("required", [False, True])
async def test_a_module_that_fails_half_way_leaves_nothing_behind(
    coordinator: TestCoordinator, mounting: Mounting, tmp_path: Path, required: bool
) -> None:
    """Its hooks are gone, its tools too, and a tool that it had replaced is back."""
    old = MockTool("A")
    await coordinator.mount("tools", old)
    half = TOOLS.replace(
        "    for name", "    coordinator.hooks.register('tool:pre', print)\n    for name"
    )
    config = {"names": ["A", "B"], "fails": True}
    given = entry(tmp_path, "half", half, config=config, required=required)
    expected = pytest.raises(ModuleLoadError, match="no network") if required else nullcontext()
    with expected:
        outcome = await mounting.mount("tools", given)
        assert outcome.objects == {}
    assert coordinator.get("tools") == {"A": old}
    assert not any(coordinator.hooks.list_handlers().values())


async def test_an_undo_or_a_ready_that_fails_does_not_stop_the_others(
    coordinator: TestCoordinator,
    mounting: Mounting,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Clean-up in reverse order, whatever one of them raises; it may be async, and is told of."""
    coordinator.display_system = screen = RecordingDisplay()
    fails = MODULE.replace("notes.setdefault", "raise OSError('x')\n        notes.setdefault")
    fails = fails.replace('coordinator.session_state["ready"] = True', "raise OSError('y')")
    async_undo = MODULE.replace("    def undo", "    async def undo")
    for name, text in (("a", MODULE), ("b", fails), ("c", async_undo)):
        await mounting.mount("hooks", entry(tmp_path, name, text, config={"name": name}))
    await mounting.ready()
    await mounting.unmount_all()
    assert coordinator.session_state["undone"] == ["c", "a"]
    assert "Module 'b': on_session_ready failed: OSError: y" in caplog.text
    assert "The clean-up of module 'b' failed" in caplog.text
    assert screen.messages == [
        ("on_session_ready failed: OSError: y", "error", "module:b"),
        ("Its clean-up failed: OSError: x", "error", "module:b"),
    ]


async def test_only_the_modules_that_came_in_are_told_that_all_is_ready(
    coordinator: TestCoordinator, mounting: Mounting, tmp_path: Path
) -> None:
    """After a reload the others have been told already."""
    text = MODULE.replace(
        'coordinator.session_state["ready"] = True',
        'coordinator.session_state.setdefault("told", []).append(__name__.split("_")[2])',
    )
    await mounting.mount("hooks", entry(tmp_path, "old", text))
    new = await mounting.mount("hooks", entry(tmp_path, "new", text))
    await mounting.ready([new])
    assert coordinator.session_state["told"] == ["new"]


async def test_a_module_is_undone_once(
    coordinator: TestCoordinator, mounting: Mounting, tmp_path: Path
) -> None:
    """Whoever asks a second time changes nothing."""
    outcome = await mounting.mount("hooks", entry(tmp_path, "mine", config={"name": "a"}))
    await mounting.unmount(outcome)
    await mounting.unmount(outcome)
    assert coordinator.session_state["undone"] == ["a"]


async def test_a_clean_up_that_hangs_is_left_behind(
    mounting: Mounting,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The end of a session does not wait for ever for one module."""
    monkeypatch.setattr(book, "PATIENCE", 0.02)
    outcome = await mounting.mount("hooks", entry(tmp_path, "mine"))
    outcome.undo = lambda: asyncio.sleep(60)
    with caplog.at_level(logging.ERROR):
        async with asyncio.timeout(50):
            await mounting.unmount_all()
    assert outcome.undo is None
    assert "The clean-up of module 'mine' failed" in caplog.text


async def test_a_module_that_is_left_out_is_told_of(
    coordinator: TestCoordinator, mounting: Mounting, tmp_path: Path
) -> None:
    """Whether the plan can do without it or not."""
    heard = EventRecorder()
    coordinator.hooks.register("module:load_failed", heard)
    given = entry(tmp_path, "bad", "x = 1")
    await mounting.mount("tools", given)
    with pytest.raises(ModuleLoadError) as caught:
        await mounting.mount("tools", {**given, "required": True})
    for _, data in heard.events:
        assert (data["module_type"], data["module_id"]) == ("tool", "bad")
        assert data["reason_code"] == caught.value.reason_code == "validation_failed"
    assert len(heard.events) == 2


async def test_a_ready_that_fails_is_told_of(
    coordinator: TestCoordinator, mounting: Mounting, tmp_path: Path
) -> None:
    """Which module, and why."""
    heard = EventRecorder()
    coordinator.hooks.register("module:on_session_ready_failed", heard)
    text = MODULE.replace('coordinator.session_state["ready"] = True', "raise OSError('y')")
    await mounting.mount("hooks", entry(tmp_path, "bad", text))
    await mounting.ready()
    assert [(data["module_id"], data["error"]) for _, data in heard.events] == [
        ("bad", "OSError: y")
    ]


async def test_what_others_put_into_the_loaders_queue_is_called_last(
    coordinator: TestCoordinator, mounting: Mounting, tmp_path: Path
) -> None:
    """With the coordinator, once."""
    seen: list[Any] = []

    async def late(given: Any) -> None:
        seen.append((given, given.session_state.get("ready")))

    mounting.loader.enqueue_on_session_ready("app", late)
    await mounting.mount("hooks", entry(tmp_path, "mine"))
    await mounting.ready()
    await mounting.ready([])
    assert seen == [(coordinator, True)]


async def test_a_loader_of_somebody_else_needs_only_load(coordinator: TestCoordinator) -> None:
    """Applications and tests bring their own; its mounts need carry nothing."""

    class Loader:
        async def load(self, module_id: str, config: Any, **more: Any) -> Any:
            async def mount(coordinator: Any) -> Any:
                await coordinator.mount("tools", MockTool(config["name"]))

            return mount

    mounting = Mounting(coordinator, Loader())
    outcome = await mounting.mount("tools", {"module": "anything", "config": {"name": "X"}})
    await mounting.ready()
    assert set(outcome.objects["tools"]) == {"X"}
    assert (outcome.origin, outcome.on_ready, outcome.undo) == ("", None, None)


CHANGER = """
from amplifier_core.models import HookResult

async def mount(coordinator, config):
    async def change(event, data):
        seen = [*data.get("seen", []), config["name"]]
        return HookResult(action="modify", data={**data, "seen": seen})
    coordinator.hooks.register("tool:pre", change, priority=config["priority"])
"""


@pytest.mark.parametrize("priority", [None, 3])
async def test_hooks_of_a_locked_entry_run_behind_all_others(
    coordinator: TestCoordinator, mounting: Mounting, tmp_path: Path, priority: int | None
) -> None:
    """Whatever priority the others have, they change nothing that a locked guard has judged."""
    given = {"guard": 900, "second": 901, "late": 5000}
    for name, own in given.items():
        config = {"name": name, "priority": own}
        more = {"locked": True, "priority": priority} if name != "late" else {}
        await mounting.mount("hooks", entry(tmp_path, name, CHANGER, config=config, **more))

    async def change(event: str, data: dict[str, Any]) -> HookResult:
        seen = [*data["seen"], "unmounted"]
        return HookResult(action="modify", data={**data, "seen": seen})

    coordinator.hooks.register("tool:*", change, priority=10**9)
    result = await coordinator.hooks.emit("tool:pre", {})
    assert result.data is not None
    assert result.data["seen"] == ["late", "unmounted", "guard", "second"]


async def test_an_instance_belongs_to_its_entry(
    coordinator: TestCoordinator, mounting: Mounting, tmp_path: Path
) -> None:
    """Under the name that the plan gives it."""
    text = TOOLS.replace('"tools"', '"providers"')
    first = entry(tmp_path, "provider-p", text, config={"names": ["p"]})
    for given in (first, {**first, "instance_id": "second"}):
        outcome = await mounting.mount("providers", given)
    assert list(coordinator.get("providers")) == ["p", "second"]
    assert list(outcome.objects["providers"]) == ["second"]


async def test_without_a_loader_the_coordinators_resolver_is_asked(tmp_path: Path) -> None:
    """The loader that is made then knows the coordinator."""
    coordinator = TestCoordinator()

    class Resolver:
        def resolve(self, module_id: str) -> Path:
            return tmp_path

    await coordinator.mount("module-source-resolver", Resolver())
    with imports_undone():
        write_package(tmp_path, "loop-basic", MODULE)
        outcome = await Mounting(coordinator).mount("orchestrator", "loop-basic")
    assert outcome.origin.startswith(str(tmp_path))


PROVIDERS = {"first": object(), "second": object()}


def loop(provider: str | None) -> Any:
    return SimpleNamespace(config=SimpleNamespace(provider=provider))


@pytest.mark.parametrize(
    ("orchestrator", "expected"),
    [
        (loop("second"), "second"),
        (loop(None), "first"),
        (loop(""), "first"),
        (SimpleNamespace(config={"provider": "second"}), "first"),
        (SimpleNamespace(), "first"),
        (None, "first"),
    ],
)
def test_the_loops_choice_counts_else_the_first(orchestrator: Any, expected: str) -> None:
    """A loop without a choice, or without options that can be read, talks to the first one."""
    assert resolve_provider(PROVIDERS, orchestrator) is PROVIDERS[expected]


@pytest.mark.parametrize(
    ("providers", "orchestrator"), [(PROVIDERS, loop("third")), ({}, loop(None)), ({}, None)]
)
def test_a_choice_that_is_not_mounted_is_no_provider(
    providers: dict[str, Any], orchestrator: Any
) -> None:
    """Another model than the one that was chosen is never taken silently."""
    assert resolve_provider(providers, orchestrator) is None


class Loader:
    """Loads a module that mounts these names."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.asked: list[Any] = []

    async def load(self, *given: Any, **named: Any) -> Any:
        self.asked.append((given, named))

        async def mount(coordinator: Any) -> Any:
            for name in self.names:
                await coordinator.mount("providers", object(), name=name)
            return print

        mount.__dict__["__module_origin__"] = "somewhere"
        return mount


async def mount(coordinator: Any, loader: Loader, **entry: Any) -> Any:
    given = ModuleEntry(**{"module": "provider-x", **entry})
    return await (await load_entry(loader, coordinator, "providers", given))(coordinator)


async def test_a_loader_is_told_id_options_and_source(coordinator: TestCoordinator) -> None:
    """The options are a copy, the coordinator goes along for its resolver."""
    entry = ModuleEntry(module="tool-x", source="git+https://x", config={"a": 1})
    loader = Loader("X")
    await load_entry(loader, coordinator, "tools", entry)
    ((given, named),) = loader.asked
    assert given == ("tool-x", {"a": 1})
    assert given[1] is not entry.config
    assert named == {"source_hint": "git+https://x", "coordinator": coordinator}


async def test_an_instance_is_renamed(coordinator: TestCoordinator) -> None:
    """The name that the module chose is free again; its clean-up is handed on."""
    assert await mount(coordinator, Loader("x"), instance_id="second") is print
    assert list(coordinator.get("providers")) == ["second"]


async def test_what_had_the_modules_own_name_before_is_put_back(
    coordinator: TestCoordinator,
) -> None:
    """In its place: the first provider stays the first."""
    await mount(coordinator, Loader("x"))
    await mount(coordinator, Loader("y"), module="provider-y")
    first = coordinator.get("providers", "x")
    await mount(coordinator, Loader("x"), instance_id="second")
    assert list(coordinator.get("providers")) == ["x", "y", "second"]
    assert coordinator.get("providers", "x") is first


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["other"], ["second"]),
        (["other", "x"], ["other", "second"]),
        ([], []),
        (["second"], ["second"]),
    ],
)
async def test_the_modules_own_name_is_that_of_its_id_else_the_first_it_mounts(
    coordinator: TestCoordinator, names: list[str], expected: list[str]
) -> None:
    """A module that mounts nothing has nothing to rename."""
    await mount(coordinator, Loader(*names), instance_id="second")
    assert list(coordinator.get("providers")) == expected


async def test_a_renaming_mount_still_says_where_it_is_from(coordinator: TestCoordinator) -> None:
    """What the loader noted on it goes along."""
    entry = ModuleEntry(module="provider-x", instance_id="second")
    bound: Any = await load_entry(Loader("x"), coordinator, "providers", entry)
    assert bound.__module_origin__ == "somewhere"


async def test_only_providers_have_instances(coordinator: TestCoordinator) -> None:
    """Elsewhere the key means nothing to us."""
    entry = ModuleEntry(module="tool-x", instance_id="second")
    bound = await load_entry(Loader("x"), coordinator, "tools", entry)
    await bound(coordinator)
    assert list(coordinator.get("providers")) == ["x"]


@pytest.mark.parametrize("kind", ["providers", "tools"])
async def test_the_application_is_told_before_a_provider_is_loaded(
    coordinator: TestCoordinator, kind: str
) -> None:
    """With the entry as the plan has it; of other modules it is not told."""
    told: list[Any] = []

    async def before_load(*given: Any) -> None:
        told.append(given)

    coordinator.register_capability("provider.before_load", before_load)
    entry = ModuleEntry(module="provider-x", config={"a": 1})
    await load_entry(Loader("x"), coordinator, kind, entry)
    expected = [(coordinator, {"module": "provider-x", "config": {"a": 1}})]
    assert told == (expected if kind == "providers" else [])


async def test_what_the_application_raises_goes_through(coordinator: TestCoordinator) -> None:
    """It may stop the start."""
    entry, failure = ModuleEntry(module="provider-x"), OSError("no network")
    await call_application("provider.load_failure", coordinator, "providers", entry, failure)

    async def stop(coordinator: Any, entry: Any, error: Exception) -> None:
        raise error

    coordinator.register_capability("provider.load_failure", stop)
    with pytest.raises(OSError, match="no network"):
        await call_application("provider.load_failure", coordinator, "providers", entry, failure)


def listen(coordinator: TestCoordinator, event: str) -> EventRecorder:
    heard = EventRecorder()
    coordinator.hooks.register(event, heard)
    return heard


def test_whatever_a_module_raises_is_a_sentence_that_names_it() -> None:
    """What kind of error it was, and what it said."""
    failure = read_failure("x", KeyError("port"))
    assert str(failure) == "Module 'x' cannot be mounted: KeyError: 'port'"
    assert (failure.module_id, failure.reason_code) == ("x", "unknown")


def test_an_error_of_a_module_is_kept() -> None:
    """With the id that the plan knows it by."""
    given = ModuleNotFound("not there", known=["y"])
    failure = read_failure("x", given)
    assert failure is given
    assert failure.module_id == "x"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("hooks", "not there"),
        ("orchestrator", "Cannot initialize without orchestrator: not there"),
        ("context", "Cannot initialize without context manager: not there"),
    ],
)
def test_a_fatal_failure_says_what_a_session_cannot_do_without(kind: str, expected: str) -> None:
    """And why it has to, whatever kind of error that was."""
    fatal = make_fatal(kind, read_failure("x", ModuleNotFound("not there")))
    assert type(fatal) is ModuleLoadError
    assert (str(fatal), fatal.module_id, fatal.reason_code) == (expected, "x", "missing_source")


@pytest.mark.parametrize(
    ("kind", "type"),
    [
        ("orchestrator", "orchestrator"),
        ("context", "context"),
        ("providers", "provider"),
        ("tools", "tool"),
        ("hooks", "hook"),
    ],
)
async def test_listeners_hear_which_module_failed_and_why(
    coordinator: TestCoordinator, kind: str, type: str
) -> None:
    """The kind, the id, the sentence and the reason."""
    heard = listen(coordinator, "module:load_failed")
    failure = ModuleValidationError("no mount", module_id="x")
    await report_failure(coordinator, kind, ModuleEntry(module="x"), failure)
    ((_, data),) = heard.events
    assert {
        "module_type": type,
        "module_id": "x",
        "error": "no mount",
        "reason_code": "validation_failed",
    }.items() <= data.items()
    assert "instance_id" not in data


async def test_a_providers_instance_is_named_and_the_application_is_told(
    coordinator: TestCoordinator,
) -> None:
    """The entry and the error."""
    heard, told = listen(coordinator, "module:load_failed"), []

    async def load_failure(*given: Any) -> None:
        told.append(given)

    coordinator.register_capability("provider.load_failure", load_failure)
    entry, failure = ModuleEntry(module="x", instance_id="second"), ModuleLoadError("no")
    await report_failure(coordinator, "providers", entry, failure)
    assert heard.events[0][1]["instance_id"] == "second"
    assert told == [(coordinator, {"module": "x", "instance_id": "second"}, failure)]


async def test_listeners_hear_of_a_ready_that_failed(
    coordinator: TestCoordinator, caplog: pytest.LogCaptureFixture
) -> None:
    """As the log does."""
    heard = listen(coordinator, "module:on_session_ready_failed")
    await report_unready(coordinator, "x", OSError("y"))
    ((_, data),) = heard.events
    assert (data["module_id"], data["error"]) == ("x", "OSError: y")
    assert caplog.messages[0] == "Module 'x': on_session_ready failed: OSError: y"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import json\n\nraise RuntimeError('half')\n", "RuntimeError: half (own.py, line 3)"),
        ("import json\njson.loads('{')\n", "(own.py, line 2)"),
        ("def mount(:\n", "SyntaxError: invalid syntax (own.py, line 1)"),
        ("import sys\nsys.exit(0)\n", "SystemExit: 0 (own.py, line 2)"),
    ],
)
async def test_a_file_that_cannot_be_imported_is_told_with_its_own_line(
    tmp_path: Path, text: str, why: str
) -> None:
    """A file that exits ends nothing but its own mounting."""
    file = tmp_path / "own.py"
    file.write_text(text)
    with pytest.raises(ModuleLoadError) as refused:
        ModuleLoader(base=tmp_path).find("./own.py")
    assert str(refused.value).startswith(f"'{file}' cannot be imported: ")
    assert str(refused.value).endswith(why)


async def test_a_module_that_exits_while_it_is_mounted_is_left_out(tmp_path: Path) -> None:
    """The program goes on, and says why."""
    (tmp_path / "own.py").write_text("import sys\ndef mount(c, config): sys.exit(0)\n")
    mounting = Mounting(TestCoordinator(), ModuleLoader(base=tmp_path))
    assert "SystemExit: 0" in str((await mounting.mount("hooks", "./own.py")).error)
