"""Random scripts of a model, and hooks and people that answer each of its calls at random.

What is decided about a call depends on the seed and the call alone, so that a test can say
afterwards what must have become of it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from amplifier_core import HookRegistry, HookResult
from amplifier_core.approval import ApprovalQuestion
from amplifier_core.gatekeeper import digest_operation
from tests.adapters.drivers.driver import Call, Step
from tests.adapters.stage import DONE

KEYS = {"note": "text", "wipe": "path", "boom": "text", "rocket": "to"}
BEFORE = ("continue", "continue", "continue", "deny", "modify", "allowed", "refused", "raise")
AFTER = ("continue", "continue", "continue", "deny", "modify", "inject")
REPLY = ("continue",) * 5 + ("deny", "drop")
ANSWER = ("continue", "continue", "modify", "deny")
PROMPT = ("continue",) * 6 + ("modify", "deny")


@dataclass(frozen=True)
class Planned:
    """A call of the script, and what hooks and people say about it."""

    call: Call
    before: str
    after: str

    @property
    def text(self) -> str:
        """Its only argument, which no other call has."""
        return str(self.call.arguments[KEYS[self.call.name]])

    @property
    def is_refused(self) -> bool:
        """Whether it must not run."""
        return self.before in ("deny", "refused", "raise")

    @property
    def input(self) -> dict[str, Any]:
        """What it runs with, if it does."""
        added = "+" if self.before == "modify" else ""
        return {KEYS[self.call.name]: self.text + added}

    @property
    def digests(self) -> dict[str, str]:
        """Of what the model wanted and of what may run."""
        return {
            "wanted": digest(self.call.name, self.call.arguments),
            "left": digest(self.call.name, self.input),
        }


def digest(name: str, given: dict[str, Any]) -> str:
    """As the trail has it."""
    return digest_operation("tool:pre", {"tool_name": name, "tool_input": given})


@dataclass
class Gamble:
    """One run: `name` is in every text of it, and in no other run's."""

    seed: int
    name: str
    names: tuple[str, ...] = ("note", "note", "wipe")
    script: list[Step] = field(default_factory=list)
    planned: list[Planned] = field(default_factory=list)

    def __post_init__(self) -> None:
        rng = self._roll("script")
        for _ in range(rng.randint(1, 3)):
            calls = [self._plan(rng) for _ in range(rng.randint(1, 4))]
            self.script.append([one.call for one in calls])
        self.script.append(f"{DONE} {self.name}.")

    def _roll(self, *about: object) -> random.Random:
        return random.Random(f"{self.seed}/{self.name}/{about}")

    def _plan(self, rng: random.Random) -> Planned:
        number = len(self.planned)
        tool = rng.choice(self.names)
        call_id = f"{self.name}_{number}"
        # Frameworks put the pieces of a stream together by id, so there it has to be one.
        if self.entry != "stream" and rng.random() < 0.1:
            call_id = "same"
        call = Call(tool, {KEYS[tool]: f"{self.name}.{number}."}, call_id)
        made = Planned(call, rng.choice(BEFORE), rng.choice(AFTER))
        self.planned.append(made)
        return made

    @cached_property
    def entry(self) -> str:
        """The entry point that it is run through, if the framework has it."""
        return self.choose("entry", ("run", "stream", "run_sync"))

    def choose(self, event: str, options: tuple[str, ...]) -> str:
        """What hooks say at an event of this run."""
        return self._roll(event).choice(options)

    @cached_property
    def by_text(self) -> dict[str, Planned]:
        """The calls by what is in their arguments."""
        return {one.text: one for one in self.planned}


class Hooks:
    """Answer for every run what its gamble says."""

    def __init__(self, gambles: list[Gamble]) -> None:
        self.gambles = gambles
        self.questions: list[str] = []
        self.dropped: set[str] = set()
        self.registry = HookRegistry()
        for event in ("prompt:submit", "prompt:answer", "provider:response"):
            self.registry.register(event, self._judge_text, name="texts", on_error="deny")
        self.registry.register("tool:pre", self._judge_call, name="calls", on_error="deny")
        self.registry.register("tool:post", self._judge_result, name="results", on_error="deny")

    def find(self, data: Any) -> Iterator[Gamble]:
        """The run that something is about."""
        return (one for one in self.gambles if f"{one.name}." in str(data))

    async def _judge_text(self, event: str, data: dict[str, Any]) -> HookResult:
        for gamble in self.find(data):
            if event == "provider:response":
                return self._judge_reply(gamble, data)
            key = "prompt" if event == "prompt:submit" else "response"
            action = gamble.choose(event, PROMPT if key == "prompt" else ANSWER)
            if action == "modify":
                return HookResult(action="modify", data={**data, key: f"{data[key]} changed"})
            return _say(action)
        return HookResult()

    def _judge_reply(self, gamble: Gamble, data: dict[str, Any]) -> HookResult:
        response = data["response"]
        calls = response.get("tool_calls") or []
        action = gamble.choose(f"reply {calls}", REPLY)
        if action != "drop" or not calls:
            return _say("continue" if action == "drop" else action)
        self.dropped.add(next(iter(calls[0]["arguments"].values())))
        changed = {**response, "tool_calls": calls[1:] or None}
        return HookResult(action="modify", data={**data, "response": changed})

    def _find_call(self, data: dict[str, Any]) -> Planned | None:
        texts = [str(one).removesuffix("+") for one in data["tool_input"].values()]
        found = (one.by_text.get(text) for one in self.gambles for text in texts)
        return next((one for one in found if one is not None), None)

    async def _judge_call(self, event: str, data: dict[str, Any]) -> HookResult:
        planned = self._find_call(data)
        if planned is None or planned.before == "raise":
            raise OSError("no database")
        if planned.before == "modify":
            return HookResult(action="modify", data={**data, "tool_input": planned.input})
        if planned.before in ("allowed", "refused"):
            return HookResult(action="ask_user", approval_prompt=planned.text)
        return _say(planned.before)

    async def _judge_result(self, event: str, data: dict[str, Any]) -> HookResult:
        planned = self._find_call(data)
        if planned is None:
            raise OSError("a result of nobody's call")
        if planned.after == "modify":
            changed = {**data["tool_result"], "output": "[removed]"}
            return HookResult(action="modify", data={**data, "tool_result": changed})
        if planned.after == "inject":
            text = f"<<{planned.text}>>"
            return HookResult(action="inject_context", context_injection=text, ephemeral=True)
        return _say(planned.after)

    async def decide(self, question: ApprovalQuestion) -> str:
        """The person: says what was planned, to whatever is asked."""
        self.questions.append(question.prompt)
        found = (one.by_text.get(question.prompt) for one in self.gambles)
        planned = next(one for one in found if one is not None)
        return "Allow" if planned.before == "allowed" else "Deny"


def _say(action: str) -> HookResult:
    if action == "deny":
        return HookResult(action="deny", reason="by chance")
    return HookResult()
