"""Plans for whole sessions of modules written the ecosystem's way, mixed with modules of ours.

The modules are in `tests/compat/ecosystem`. A conversation is a list of replies; each is a text, or
a list of tool calls as pairs of name and input.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from amplifier_core.testing import EventRecorder
from tests.compat.ecosystem.app import App

FOLDER = Path(__file__).parents[1] / "compat" / "ecosystem"
PACKAGES = sorted(one.name for one in FOLDER.iterdir() if one.name.startswith("amplifier_module_"))
IDS = [one.removeprefix("amplifier_module_").replace("_", "-") for one in PACKAGES]
LOOPS = ["loop-basic", "loop-streaming", "loop-plain", "loop-blocks"]
THEIR_LOOPS = [one for one in LOOPS if one in IDS]
CONTEXTS = ["context-simple", "context-window"]
PROVIDERS = ["provider-scripted", "provider-parrot"]

Conversation = Sequence[str | Sequence[tuple[str, Mapping[str, Any]]]]


def entry(module_id: str, *, by_source: bool = True, **config: Any) -> dict[str, Any]:
    """An entry of a plan; only a module of theirs can say where it is."""
    found: dict[str, Any] = {"module": module_id, "config": config}
    if by_source and module_id in IDS:
        found["source"] = str(FOLDER / f"amplifier_module_{module_id.replace('-', '_')}")
    return found


def speak(provider: str, conversation: Conversation) -> dict[str, Any]:
    """The options with which a provider plays a conversation."""
    if provider == "provider-parrot":
        return {"replies": [one if isinstance(one, str) else list(one) for one in conversation]}
    return {"script": [_write_reply(one) for one in conversation]}


def _write_reply(reply: Any) -> dict[str, Any]:
    if isinstance(reply, str):
        return {"text": reply}
    return {"tool_calls": [{"name": name, "input": dict(given)} for name, given in reply]}


def build_plan(
    conversation: Conversation,
    *,
    loop: str = "loop-plain",
    context: str = "context-window",
    provider: str = "provider-parrot",
    tools: Iterable[str] = ("tool-notes",),
    hooks: Mapping[str, Mapping[str, Any]] | None = None,
    by_source: bool = True,
    **settings: Any,
) -> dict[str, Any]:
    """A plan of the named modules, theirs or ours; `settings` are those of its session."""

    def name(module_id: str, **config: Any) -> dict[str, Any]:
        return entry(module_id, by_source=by_source, **config)

    return {
        "session": {"orchestrator": name(loop), "context": name(context), **settings},
        "providers": [name(provider, **speak(provider, conversation))],
        "tools": [name(one) for one in tools],
        "hooks": [name(one, **config) for one, config in (hooks or {}).items()],
    }


class RequestRecorder:
    """Notes what the providers of a session are asked, whether whole or as a stream."""

    def __init__(self, coordinator: Any) -> None:
        self.requests: list[Any] = []
        for provider in coordinator.get("providers").values():
            for way in ("complete", "stream"):
                if hasattr(provider, way):
                    setattr(provider, way, self._note(getattr(provider, way)))

    def _note(self, ask: Any) -> Any:
        def noted(request: Any, **more: Any) -> Any:
            self.requests.append(request)
            return ask(request, **more)

        return noted

    @property
    def texts(self) -> list[str]:
        """What stood in each request, with the role before each message."""
        return [
            "\n".join(f"{one.role}: {one.text}" for one in request.messages)
            for request in self.requests
        ]

    def find(self, text: str) -> list[int]:
        """Which requests have a text, counted from 1; one that has it twice is there twice."""
        return [n for n, one in enumerate(self.texts, 1) for _ in range(one.count(text))]


def read_lines(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """The events that hooks-journal wrote."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [(line["event"], line["data"]) for line in lines]


class Outcome:
    """What came of a session."""

    def __init__(self, session: Any, heard: EventRecorder, requests: RequestRecorder) -> None:
        self.session = session
        self.coordinator = session.coordinator
        self.heard = heard
        self.requests = requests
        self.replies: list[str] = []
        self.messages: list[dict[str, Any]] = []
        self.store = self.coordinator.get_capability("memory.store")

    def data_of(self, event: str) -> list[dict[str, Any]]:
        return [data for name, data in self.heard.events if name == event]

    def names_in_first_turn(self, known: set[str]) -> list[str]:
        """The events up to the second prompt that are among the known ones."""
        names = [name for name, _ in self.heard.events]
        second = [n for n, name in enumerate(names) if name == "prompt:submit"][1]
        return [name for name in names[:second] if name in known]


async def run_session(app: App, plan: dict[str, Any], *prompts: str) -> Outcome:
    """Take a session from its construction to its end."""
    session = await app.construct(plan)
    heard = EventRecorder()
    session.coordinator.hooks.register("*", heard, priority=10_000, name="heard")
    await session.initialize()
    assert not [one.error for one in session.mounting.mounted if one.error]
    outcome = Outcome(session, heard, RequestRecorder(session.coordinator))
    for prompt in prompts:
        outcome.replies.append(await app.ask(session, prompt))
    outcome.messages = list(await session.context.get_messages())
    await app.close()
    return outcome
