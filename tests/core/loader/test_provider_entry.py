"""Instances of one provider under names of the plan's choice, and the application's two calls."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.mount_plan import ModuleEntry
from amplifier_core.mounting import call_application, load_entry
from amplifier_core.testing import TestCoordinator


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


@pytest.fixture
def coordinator() -> TestCoordinator:
    return TestCoordinator()


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
