"""Payloads that the real programs handed to their hooks, and what we make of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from amplifier_hooks.coding_agents.dialects import DIALECTS, Dialect
from amplifier_hooks.coding_agents.dialects.reading import read_payload
from amplifier_hooks.coding_agents.dialects.writing import write_reply
from amplifier_hooks.external.incoming import Incoming, UnreadablePayload
from amplifier_hooks.external.verdicts import Verdict
from tests.hooks.coding_agents.dialects.conversation import TOOL, make_call

_PAYLOADS = Path(__file__).parent / "payloads"
_FOLDERS = {"copilot-claude": "copilot/pascal_case"}

odd_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["\ud800", "x" * 10_000, "*** Begin Patch", "{"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
"""What no agent sends, and an attacker might."""


def list_recordings(agent: str) -> list[str]:
    """The names of the recordings of an agent: the event, and what is special about it."""
    found = (path.stem for path in (_PAYLOADS / _FOLDERS.get(agent, agent)).glob("*.json"))
    return sorted(name for name in found if not name.startswith("_"))


def load_recording(agent: str, name: str) -> dict[str, Any]:
    """One of them."""
    path = _PAYLOADS / _FOLDERS.get(agent, agent) / f"{name}.json"
    payload: dict[str, Any] = json.loads(path.read_text())
    return payload


def read_recording(agent: str, name: str, **changed: Any) -> Incoming:
    """The event of ours that it is, perhaps with other values in it."""
    payload = {**load_recording(agent, name), **changed}
    return read_payload(DIALECTS[agent], name.split(".")[0], json.dumps(payload))


def make_incoming(agent: str, native: str) -> Incoming:
    """An event as it was recorded, or as we tell it where it never was."""
    if native in list_recordings(agent):
        return read_recording(agent, native)
    payload = DIALECTS[agent].build_payload(make_call(native, TOOL))
    return read_payload(DIALECTS[agent], native, json.dumps(payload))


def read_damaged(
    dialect: Dialect, native: str, payload: Mapping[str, Any], data: st.DataObject
) -> Incoming | None:
    """An event with odd values in it and with others missing; None if it is refused, in one way."""
    damaged = dict(payload)
    for key in data.draw(st.lists(st.sampled_from(sorted(damaged)), max_size=3)):
        damaged[key] = data.draw(odd_values)
    for key in data.draw(st.lists(st.sampled_from(sorted(damaged)), max_size=2, unique=True)):
        del damaged[key]
    try:
        return read_payload(dialect, native, json.dumps(damaged))
    except UnreadablePayload:
        return None


def answer(agent: str, incoming: Incoming, verdict: Verdict) -> dict[str, Any]:
    """What the agent is told; an object in any case."""
    reply = write_reply(DIALECTS[agent], incoming, verdict)
    assert (reply.code, reply.stderr, reply.failure) == (0, "", None)
    printed: dict[str, Any] = json.loads(reply.stdout or "{}")
    return printed
