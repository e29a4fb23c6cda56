"""How modules of the ecosystem are loaded: by entry point, package, source path and resolver.

Each way brings the same five modules, under ids that this project has modules for too.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleError
from amplifier_core.loader import TYPE_TO_MOUNT_POINT, ModuleLoader, ModuleValidationError
from amplifier_core.module_sources import (
    FileSystemModuleSource,
    ModuleLoadError,
    ModuleNotFoundError,
    ModuleSource,
    ModuleSourceResolver,
)
from amplifier_core.session import AmplifierSession
from amplifier_core.testing import EventRecorder, TestCoordinator
from tests.support.modules import imports_undone, write_distribution, write_package

LOOP = """
class Loop:
    def __init__(self, config):
        self.config = config

    async def execute(self, prompt, context, providers, tools, hooks, coordinator=None):
        await context.add_message({"role": "user", "content": prompt})
        provider = next(iter(providers.values()))
        return f"{self.config['greeting']} {provider.name} {sorted(tools)}"

async def mount(coordinator, config):
    await coordinator.mount("orchestrator", Loop(config))
"""
CONTEXT = """
class Context:
    def __init__(self):
        self.messages = []

    async def add_message(self, message):
        self.messages.append(message)

    async def get_messages(self):
        return self.messages

    async def get_messages_for_request(self, token_budget=None, provider=None):
        return self.messages

    async def set_messages(self, messages):
        self.messages = list(messages)

    async def clear(self):
        self.messages = []

async def mount(coordinator, config):
    await coordinator.mount("context", Context())
"""
PROVIDER = """
from amplifier_core import ChatResponse

class Provider:
    name = "openai"

    def __init__(self, config):
        self.config = config

    async def complete(self, request, **kwargs):
        return ChatResponse(content=[])

    def parse_tool_calls(self, response):
        return []

async def mount(coordinator, config):
    if "fails" in config:
        raise RuntimeError("no key")
    await coordinator.mount("providers", Provider(config), name="openai")
"""
TOOL = """
from amplifier_core import ToolResult

from amplifier_module_tool_todo.names import NAME

class Tool:
    name = NAME
    description = "Does nothing."
    input_schema = {}

    async def execute(self, input):
        return ToolResult(output="done")

async def mount(coordinator, config):
    await coordinator.mount("tools", Tool(), name=NAME)
"""
HOOKS = """
HEARD = []

async def hear(event, data):
    HEARD.append(event)

async def mount(coordinator, config):
    return coordinator.hooks.register("prompt:submit", hear, name="theirs")

async def on_session_ready(coordinator):
    HEARD.append(sorted(coordinator.get("tools")))
"""
MODULES = {
    "loop-basic": LOOP,
    "context-simple": CONTEXT,
    "provider-openai": PROVIDER,
    "tool-todo": TOOL,
    "hooks-logging": HOOKS,
}
GIT = "git+https://host.invalid/amplifier-module@main"


def package_of(module_id: str) -> str:
    return f"amplifier_module_{module_id.replace('-', '_')}"


def write_modules(folder: Path) -> None:
    """Each module as a checkout of its repository has it."""
    for module_id, text in MODULES.items():
        parts = {"names": 'NAME = "theirs"\n'} if module_id == "tool-todo" else {}
        write_package(folder / f"amplifier-module-{module_id}", module_id, text, **parts)


@pytest.fixture(autouse=True)
def _undo_imports() -> Iterator[None]:
    with imports_undone():
        yield


@pytest.fixture
def checkouts(tmp_path: Path) -> Path:
    folder = tmp_path / "checkouts"
    write_modules(folder)
    return folder


class Resolver:
    """Finds modules in a folder of checkouts; notes who asked for what."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: dict[str, Any] = {}

    def resolve(self, module_id: str, source_hint: Any = None, profile_hint: Any = None) -> Any:
        self.asked[module_id] = source_hint
        folder = self.folder / f"amplifier-module-{module_id}"
        if not folder.is_dir():
            raise ModuleNotFoundError(f"Module '{module_id}' not found")
        return FileSystemModuleSource([folder])


class AsyncResolver(Resolver):
    """The same, with the form that is asked by preference."""

    async def async_resolve(self, module_id: str, source_hint: Any = None, **hints: Any) -> Any:
        return super().resolve(module_id, source_hint)

    def resolve(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("async_resolve is there")


def entry(module_id: str, source: str | None = None, **config: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"module": module_id, "config": config}
    return found if source is None else {**found, "source": source}


def plan(**sources: Any) -> dict[str, Any]:
    """All five modules; `sources` is what each says of where it is."""
    source = sources.get("source", lambda module_id: None)
    return {
        "session": {
            "orchestrator": entry("loop-basic", source("loop-basic"), greeting="Hello"),
            "context": entry("context-simple", source("context-simple")),
        },
        "providers": [entry("provider-openai", source("provider-openai"))],
        "tools": [entry("tool-todo", source("tool-todo"))],
        "hooks": [entry("hooks-logging", source("hooks-logging"))],
    }


async def run(session: AmplifierSession) -> None:
    """One prompt with the five modules, after which nothing of them is left."""
    before = list(sys.path)
    await session.initialize()
    assert not [one.error for one in session.mounting.mounted if one.error]
    assert await session.execute("hi") == "Hello openai ['theirs']"
    assert session.context.messages[0]["content"] == "hi"  # type: ignore[attr-defined]
    assert sys.modules[package_of("hooks-logging")].HEARD[0] == ["theirs"]
    added = list(session.loader._added_paths)
    await session.cleanup()
    assert [one for one in sys.path if one not in before] == []
    assert not set(added) & set(sys.path)


# The ways


async def test_modules_that_are_installed_win_over_built_ins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the entry points of another distribution; their source in the plan is no matter."""
    site = tmp_path / "site"
    write_modules(tmp_path)
    site.mkdir()
    for module_id in MODULES:
        package = tmp_path / f"amplifier-module-{module_id}" / package_of(module_id)
        package.rename(site / package.name)
    write_distribution(site, "theirs", {one: f"{package_of(one)}:mount" for one in MODULES})
    monkeypatch.syspath_prepend(str(site))
    await run(AmplifierSession(plan(source=lambda module_id: GIT)))


async def test_packages_that_can_be_imported_win_over_built_ins(
    checkouts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an entry point: the name of the package is enough."""
    for module_id in MODULES:
        monkeypatch.syspath_prepend(str(checkouts / f"amplifier-module-{module_id}"))
    await run(AmplifierSession(plan()))


@pytest.mark.parametrize("form", ["checkout", "package", "address"])
async def test_modules_that_a_source_names_win_over_built_ins(checkouts: Path, form: str) -> None:
    """A checkout of the repository, the package in it, or either as an address of a file."""

    def source(module_id: str) -> str:
        checkout = f"{checkouts}/amplifier-module-{module_id}"
        forms = {"package": f"{checkout}/{package_of(module_id)}", "address": f"file://{checkout}"}
        return forms.get(form, checkout)

    await run(AmplifierSession(plan(source=source)))


@pytest.mark.parametrize("kind", [Resolver, AsyncResolver])
async def test_a_resolver_that_is_mounted_before_the_start_is_asked_first(
    checkouts: Path, kind: type[Resolver]
) -> None:
    """An application mounts it between construction and initialize; it gets the plan's sources."""
    session = AmplifierSession(plan(source=lambda module_id: GIT))
    resolver = kind(checkouts)
    await session.coordinator.mount("module-source-resolver", resolver)
    await run(session)
    assert resolver.asked == dict.fromkeys(MODULES, GIT)


async def test_modules_in_the_folders_of_the_environment_are_loaded(
    checkouts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are what somebody put there on purpose."""
    monkeypatch.setenv("AMPLIFIER_MODULES", str(checkouts))
    await run(AmplifierSession(plan()))


async def test_a_session_takes_the_loader_that_it_is_given(checkouts: Path) -> None:
    """Such as one with search paths."""
    loader = ModuleLoader(None, [checkouts])
    session = AmplifierSession(plan(), loader)
    assert session.loader is loader
    assert session.coordinator.loader is loader
    await run(session)


async def test_what_a_resolver_does_not_know_is_found_as_without_it(checkouts: Path) -> None:
    """A module of this project beside theirs."""
    session = AmplifierSession({**plan(), "tools": [entry("tool-filesystem")]})
    await session.coordinator.mount("module-source-resolver", Resolver(checkouts))
    async with session:
        assert "theirs" not in session.coordinator.get("tools")
        assert await session.execute("hi") == "Hello openai ['Edit', 'MultiEdit', 'Read', 'Write']"


async def test_the_plan_of_an_existing_bundle_starts_with_built_ins(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nobody fetches its sources here, so the modules of the same ids serve, and it is said."""
    existing = {
        "session": {
            "orchestrator": entry("loop-basic", GIT, max_iterations=7, extended_thinking=True),
            "context": entry("context-simple", GIT, max_tokens=1000, compact_threshold=0.8),
        },
        "providers": [entry("provider-scripted", script=[{"text": "Hello"}])],
        "tools": [entry("tool-filesystem", GIT), entry("tool-nowhere", GIT)],
    }
    with caplog.at_level(logging.WARNING):
        async with AmplifierSession(existing) as session:
            assert await session.execute("hi") == "Hello"
            assert session.coordinator.get("orchestrator").config.max_turns == 7
    for module_id in ("loop-basic", "context-simple", "tool-filesystem"):
        assert f"Module '{module_id}': the built-in one is used" in caplog.text
    assert "loop-basic: unknown option 'extended_thinking'" in caplog.text
    assert "Module 'tool-nowhere' is not installed, and no module source resolver" in caplog.text


# What goes wrong


BROKEN = {
    "missing_source": (None, "there is no file or folder"),
    "invalid_package_layout": ("", "is not a Python module"),
    "validation_failed": ("x = 1\n", "has no mount"),
    "unknown": ("raise RuntimeError('half written')\n", "cannot be imported: RuntimeError"),
}


@pytest.mark.parametrize("reason", BROKEN)
async def test_a_broken_module_is_left_out_and_told_of(checkouts: Path, reason: str) -> None:
    """Its kind, id, error and reason are on `module:load_failed`; the session goes on."""
    text, why = BROKEN[reason]
    folder = checkouts / "broken"
    if text:
        write_package(folder, "tool-broken", text)
    elif text is not None:
        folder.mkdir()
    given = {**plan(), "tools": [entry("tool-broken", str(folder)), entry("tool-todo")]}
    session = AmplifierSession(given, ModuleLoader(search_paths=[checkouts]))
    heard = EventRecorder()
    session.coordinator.hooks.register("module:load_failed", heard)
    await session.initialize()
    ((_, data),) = heard.events
    assert (data["module_type"], data["module_id"]) == ("tool", "tool-broken")
    assert data["reason_code"] == reason
    assert why in data["error"]
    assert "instance_id" not in data
    assert list(session.coordinator.get("tools")) == ["theirs"]
    await session.cleanup()


async def test_an_entry_point_that_leads_nowhere_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says which module has it."""
    write_distribution(tmp_path, "theirs", {"tool-todo": "no_such_package:mount"})
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleError, match="'tool-todo' cannot be imported") as caught:
        await ModuleLoader().load("tool-todo")
    assert caught.value.reason_code == "invalid_entry_point"


@pytest.mark.parametrize("kind", ["orchestrator", "context"])
async def test_a_session_cannot_do_without_its_loop_and_context(checkouts: Path, kind: str) -> None:
    """A RuntimeError with what is missing and why."""
    broken = plan(source=lambda module_id: f"{checkouts}/amplifier-module-{module_id}")
    broken["session"][kind] = entry("broken", str(checkouts / "nowhere"))
    noun = {"context": "context manager"}.get(kind, kind)
    why = f"Cannot initialize without {noun}: .*there is no file or folder"
    with pytest.raises(RuntimeError, match=why):
        await AmplifierSession(broken).initialize()


async def test_an_on_session_ready_that_fails_is_told_of(checkouts: Path) -> None:
    """The module and the error are on `module:on_session_ready_failed`; the others are called."""
    text = HOOKS.replace("HEARD.append(sorted", "raise OSError('not ready') #")
    broken = write_package(checkouts, "hooks-broken", text)
    found = plan(source=lambda module_id: f"{checkouts}/amplifier-module-{module_id}")
    found["hooks"].insert(0, entry("hooks-broken", str(broken)))
    session = AmplifierSession(found)
    heard = EventRecorder()
    session.coordinator.hooks.register("module:on_session_ready_failed", heard)
    await session.initialize()
    ((_, data),) = heard.events
    assert (data["module_id"], data["error"]) == ("hooks-broken", "OSError: not ready")
    assert sys.modules[package_of("hooks-logging")].HEARD == [["theirs"]]
    await session.cleanup()


# Instances of a provider


async def test_one_provider_module_serves_under_several_names(checkouts: Path) -> None:
    """`instance_id` names it; what has the module's own name keeps it."""
    source = f"{checkouts}/amplifier-module-provider-openai"
    first = entry("provider-openai", source, which=1)
    second = {**entry("provider-openai", source, which=2), "instance_id": "second"}
    session = AmplifierSession(
        {**plan(), "providers": [first, second]}, ModuleLoader(search_paths=[checkouts])
    )
    await session.initialize()
    providers = session.coordinator.get("providers")
    assert {name: one.config["which"] for name, one in providers.items()} == {
        "openai": 1,
        "second": 2,
    }
    await session.cleanup()


async def test_a_name_that_only_an_instance_used_is_free_again(checkouts: Path) -> None:
    """Nothing was there before."""
    source = f"{checkouts}/amplifier-module-provider-openai"
    only = {**entry("provider-openai", source), "instance_id": "only"}
    session = AmplifierSession(
        {**plan(), "providers": [only]}, ModuleLoader(search_paths=[checkouts])
    )
    await session.initialize()
    assert list(session.coordinator.get("providers")) == ["only"]
    await session.cleanup()


async def test_two_providers_of_one_module_need_an_instance_id(checkouts: Path) -> None:
    """A ValueError that names the module."""
    two = {**plan(), "providers": [entry("provider-openai"), entry("provider-openai")]}
    with pytest.raises(ValueError, match="'provider-openai' have no instance_id"):
        await AmplifierSession(two, ModuleLoader(search_paths=[checkouts])).initialize()


async def test_an_application_hears_of_providers_and_may_stop_the_start(checkouts: Path) -> None:
    """`provider.before_load` and `provider.load_failure`, both async."""
    failing = {**entry("provider-openai", fails=True), "instance_id": "second"}
    session = AmplifierSession(
        {**plan(), "providers": [failing]}, ModuleLoader(search_paths=[checkouts])
    )
    heard, told = EventRecorder(), []
    session.coordinator.hooks.register("module:load_failed", heard)

    async def before_load(coordinator: Any, given: dict[str, Any]) -> None:
        told.append((coordinator, given))

    async def load_failure(coordinator: Any, given: dict[str, Any], error: Exception) -> None:
        raise ConnectionError(f"cannot start without {given['instance_id']}: {error}")

    session.coordinator.register_capability("provider.before_load", before_load)
    session.coordinator.register_capability("provider.load_failure", load_failure)
    with pytest.raises(ConnectionError, match=r"cannot start without second: .*no key"):
        await session.initialize()
    assert told == [(session.coordinator, failing)]
    assert heard.events[0][1]["instance_id"] == "second"


# The loader's face


def test_kinds_of_modules_have_their_mount_points() -> None:
    """Exactly these."""
    assert TYPE_TO_MOUNT_POINT == {
        "orchestrator": "orchestrator",
        "provider": "providers",
        "tool": "tools",
        "hook": "hooks",
        "context": "context",
        "resolver": "module-source-resolver",
    }


def test_a_validation_error_has_a_reason() -> None:
    """By keyword, with a default."""
    assert ModuleValidationError("text").reason_code == "validation_failed"
    given = ModuleValidationError("text", reason_code="invalid_package_layout")
    assert (str(given), given.reason_code) == ("text", "invalid_package_layout")


async def test_loading_gives_a_new_mount_each_time(checkouts: Path) -> None:
    """An async function of the coordinator, with the options bound."""
    loader = ModuleLoader(search_paths=[checkouts])
    first = await loader.load("loop-basic", {"greeting": "One"})
    second = await loader.load("loop-basic", config={"greeting": "Two"})
    assert first is not second
    coordinator = TestCoordinator()
    for mount, greeting in ((first, "One"), (second, "Two")):
        await mount(coordinator)
        assert coordinator.get("orchestrator").config == {"greeting": greeting}
    loader.cleanup()


async def test_what_is_not_found_is_a_value_error() -> None:
    """Also when a resolver does not know it."""
    coordinator = TestCoordinator()
    await coordinator.mount("module-source-resolver", Resolver(Path("/nowhere")))
    with pytest.raises(ValueError, match="nonsense"):
        await ModuleLoader(coordinator).load("nonsense")
    with pytest.raises(ValueError, match="nonsense"):
        await ModuleLoader().load("nonsense", coordinator=coordinator)


async def test_a_mount_carries_what_is_called_when_all_is_ready(
    checkouts: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The id and the function; one that is not async is warned about and left out."""
    loader = ModuleLoader(search_paths=[checkouts])
    mount: Any = await loader.load("hooks-logging")
    function = sys.modules[package_of("hooks-logging")].on_session_ready
    assert mount.__on_session_ready__ == ("hooks-logging", function)
    write_package(checkouts, "hooks-plain", HOOKS.replace("async def on_s", "def on_s"))
    plain = await loader.load(
        "hooks-plain", source_hint=f"{checkouts}/amplifier_module_hooks_plain"
    )
    assert not hasattr(plain, "__on_session_ready__")
    assert "'hooks-plain': on_session_ready is not async" in caplog.text
    loader.cleanup()


async def test_the_queue_of_the_loader(checkouts: Path) -> None:
    """Put in, looked at as a copy, cleared; a session calls what an application put there."""
    session = AmplifierSession(plan(), ModuleLoader(search_paths=[checkouts]))
    called: list[Any] = []

    async def ready(coordinator: Any) -> None:
        called.append(coordinator)

    session.loader.enqueue_on_session_ready("app", ready)
    queue = session.loader.get_on_session_ready_queue()
    assert queue == [("app", ready)]
    queue.clear()
    await session.initialize()
    assert called == [session.coordinator]
    assert session.loader.get_on_session_ready_queue() == []
    session.loader.enqueue_on_session_ready("app", ready)
    session.loader.clear_on_session_ready_queue()
    assert session.loader.get_on_session_ready_queue() == []
    await session.cleanup()


async def test_initializing_calls_the_mount(checkouts: Path) -> None:
    """With the coordinator."""
    loader, coordinator = ModuleLoader(search_paths=[checkouts]), TestCoordinator()
    await loader.initialize(await loader.load("tool-todo"), coordinator)
    assert list(coordinator.get("tools")) == ["theirs"]
    loader.cleanup()


async def test_discovering_finds_installed_modules_and_folders(
    tmp_path: Path, checkouts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kind is what the package declares, else it is guessed from the id."""
    declared = '__amplifier_module_type__ = "context"\n'
    write_package(tmp_path, "tool-named", declared)
    write_distribution(tmp_path, "theirs", {"tool-named": "amplifier_module_tool_named:mount"})
    monkeypatch.syspath_prepend(str(tmp_path))
    write_package(checkouts / "amplifier-module-odd-one", "odd-one", "")
    monkeypatch.setenv("AMPLIFIER_MODULES", f"{checkouts}:/nowhere")
    found = {one.id: one for one in await ModuleLoader().discover()}
    assert (found["tool-named"].type, found["tool-named"].mount_point) == ("context", "context")
    assert (found["odd-one"].type, found["odd-one"].mount_point) == ("tool", "tools")
    assert {found[one].type for one in MODULES} == {
        "orchestrator", "context", "provider", "tool", "hook",
    }  # fmt: skip
    assert list(found).index("tool-named") < list(found).index("odd-one")


# The face of module sources


def test_module_sources_are_these_names(tmp_path: Path) -> None:
    """Two exceptions, an abstract source, the protocol of resolvers, and folders."""
    assert issubclass(ModuleNotFoundError, Exception)
    assert issubclass(ModuleLoadError, Exception)
    with pytest.raises(TypeError):
        ModuleSource()  # type: ignore[abstract]
    assert isinstance(Resolver(tmp_path), ModuleSourceResolver)
    source = FileSystemModuleSource()
    assert source.get_module_paths() == []
    assert source.get_mention_mappings() == {}
    assert FileSystemModuleSource(paths=[tmp_path]).get_module_paths() == [tmp_path]
