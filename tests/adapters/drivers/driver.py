"""What the contract suite needs of each framework: run an agent, offline, behind our hooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from amplifier_hooks.coverage import Coverage
from amplifier_hooks.frameworks import Governor


@dataclass(frozen=True)
class Call:
    """A tool call that the scripted model makes."""

    name: str
    arguments: dict[str, Any]
    id: str = "call_1"


Step = str | list[Call]
"""One reply of the scripted model: a text, or tool calls."""


@dataclass
class Ran:
    """What happened, as the agent's own parts saw it."""

    answer: str = ""
    """What the caller got; of a refused run, the reason (also if it came as an exception)."""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """What ran, recorded by the tools themselves."""
    requests: list[str] = field(default_factory=list)
    """What the scripted model was sent, one text per request: every role and every text in it."""
    pieces: list[str] = field(default_factory=list)
    """What a streaming caller received, in order."""
    stored: list[str] = field(default_factory=list)
    """The texts of the conversation as the framework keeps it after the run, if it keeps one."""

    def ran(self, name: str) -> list[dict[str, Any]]:
        """The arguments of each call of a tool."""
        return [arguments for called, arguments in self.calls if called == name]


class Driver(ABC):
    """One framework. Its agent has these tools, all of them recording that they ran:

    note(text: str) -> f"noted {text}"
    wipe(path: str) -> f"wiped {path}"
    boom(text: str) raises RuntimeError(f"boom {text}")

    `cannot` has the scenarios (names of test functions without "test_") that the framework cannot
    do, each with the reason that a user is told.
    """

    name: ClassVar[str]
    coverage: ClassVar[Coverage]
    cannot: ClassVar[Mapping[str, str]] = {}
    own_answers: ClassVar[Mapping[bool, Any]] = {True: True, False: False}
    """A yes and a no to the framework's own interrupt, as its users give them without us."""

    @abstractmethod
    async def run(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        """Run a fresh agent through the framework's asynchronous entry point.

        For the benchmark, `hooks` may be None: then nothing of ours is attached.
        """

    def run_sync(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        """The same through the synchronous entry point, called in a thread without a loop."""
        raise NotImplementedError

    async def stream(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        """The same through the streaming entry point, with `pieces`."""
        raise NotImplementedError

    async def run_turns(self, hooks: Governor, scripts: list[list[Step]]) -> Ran:
        """Several runs of one agent in one thread of the framework, each with its own session."""
        raise NotImplementedError

    async def run_with_helper(
        self, hooks: Governor, script: list[Step], helper: list[Step], prompt: str = "Do it."
    ) -> Ran:
        """Run an agent with a sub-agent that has the same tools and its own script.

        In `script`, the call `Call("helper", {"task": …})` starts it; a framework with a way of its
        own (a hand-off, a transfer) translates that call. `calls` has those of both.
        """
        raise NotImplementedError

    async def run_interrupted(
        self, hooks: Governor, script: list[Step], choose: Any, prompt: str = "Do it."
    ) -> Ran:
        """Run with questions handed over to the framework's interrupt, and resume it.

        `choose(payload)` gets the payload of `Handed.to_payload` and returns what the person's
        application sends back, made by `answer` or one of `own_answers`; it is called once for
        each interrupt.
        """
        raise NotImplementedError

    async def run_with_mcp(
        self, hooks: Governor, script: list[Step], prompt: str = "Do it."
    ) -> Ran:
        """Run with `note` and `wipe` served by an MCP server, attached as the framework does it."""
        raise NotImplementedError

    async def run_with_nothing(self, script: list[Step]) -> Ran:
        """Run with an extension of the framework that does nothing where ours would be attached.

        For the benchmark: what the framework takes for having one at all is not ours.
        """
        raise NotImplementedError
