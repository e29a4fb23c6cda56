"""What a resolver of module sources is, and how it is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.module_sources import (
    FileSystemModuleSource,
    ModuleLoadError,
    ModuleNotFoundError,
    ModuleSource,
    ModuleSourceResolver,
    ask_resolver,
)


class Source(ModuleSource):
    """One folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def resolve(self) -> Path:
        return self.path


class Resolver:
    """Notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def resolve(self, module_id: str, source_hint: Any = None, profile_hint: Any = None) -> Source:
        self.asked.append((module_id, source_hint, profile_hint))
        return Source(Path("/a") / module_id)


def test_a_source_says_where_it_is() -> None:
    """It cannot be without saying so."""
    with pytest.raises(TypeError, match="abstract"):
        ModuleSource()  # type: ignore[abstract]
    assert isinstance(Resolver(), ModuleSourceResolver)
    assert not isinstance(object(), ModuleSourceResolver)


def test_folders_are_listed_and_the_first_that_is_there_counts(tmp_path: Path) -> None:
    """Nothing in them can be mentioned."""
    source = FileSystemModuleSource([tmp_path / "gone", str(tmp_path)])
    assert source.get_module_paths() == [tmp_path / "gone", tmp_path]
    assert source.resolve() == tmp_path
    assert source.get_mention_mappings() == {}
    assert isinstance(source, ModuleSource)


def test_folders_that_are_not_there_are_named() -> None:
    """Also when there are none at all."""
    with pytest.raises(ModuleNotFoundError, match=r"None of these folders is there: /gone"):
        FileSystemModuleSource(["/gone"]).resolve()
    assert FileSystemModuleSource().get_module_paths() == []


async def test_a_resolver_is_asked_by_keywords() -> None:
    """Both names of the hint have it."""
    resolver = Resolver()
    assert await ask_resolver(resolver, "x", "git+https://y") == Path("/a/x")
    assert resolver.asked == [("x", "git+https://y", "git+https://y")]


async def test_the_async_form_is_preferred() -> None:
    """The answer may be awaited too."""

    class Async(Resolver):
        async def async_resolve(self, module_id: str, **hints: Any) -> Any:
            self.asked.append((module_id, hints))
            return self

        async def resolve(self) -> str:  # type: ignore[override]
            return "/b"

    resolver = Async()
    assert await ask_resolver(resolver, "x", None) == Path("/b")
    assert resolver.asked == [("x", {"source_hint": None, "profile_hint": None})]


async def test_hints_that_a_resolver_does_not_take_are_left_out() -> None:
    """One that was written for another version is asked for what it understands."""

    class Older:
        def resolve(self, module_id: str, profile_hint: str | None = None) -> Path:
            return Path(f"/{module_id}/{profile_hint}")

    assert await ask_resolver(Older(), "x", "y") == Path("/x/y")


@pytest.mark.parametrize("where", ["resolver", "source"])
async def test_not_knowing_a_module_is_no_failure(where: str) -> None:
    """Whether the resolver says so or the source that it answered with."""

    class Unknowing(Resolver):
        def resolve(self, *_: Any, **__: Any) -> Any:
            if where == "resolver":
                raise ModuleNotFoundError("unknown")
            return FileSystemModuleSource()

    assert await ask_resolver(Unknowing(), "x", None) is None


async def test_a_failure_goes_through() -> None:
    """The module is known, and cannot be had."""

    class Failing(Resolver):
        def resolve(self, *_: Any, **__: Any) -> Any:
            raise ModuleLoadError("no network")

    with pytest.raises(ModuleLoadError, match="no network"):
        await ask_resolver(Failing(), "x", None)
