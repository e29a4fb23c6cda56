"""Who would be asked, as the bundle says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.mount_plan import list_ways

_WAYS = {
    "terminal": "the person at the terminal of the session",
    "store": "people who answer with `amplifier approvals` or on the page of `amplifier serve`",
    "server": "people at the server that the bundle names",
}
_MODES = {
    "ask": "",
    "deny": "nobody is asked: the bundle refuses every question (approval.mode: deny)",
    "edits": "edits of files in this folder are allowed without asking; for the rest: ",
}


class People(BaseModel):
    """Who answers questions, and how many of them must allow."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    asked: str = Field(description="Who would be asked, in words.")
    persons: int = Field(description="How many people must allow it.")
    requester_may_approve: bool = Field(
        description="Whether the person who runs the agent may be one of them."
    )
    scope: str = Field(description="A right that who allows it must have; empty if none.")


def describe_people(section: Mapping[str, Any]) -> People:
    """Read from the section `approval` of a bundle."""
    mode = str(section.get("mode") or "ask")
    ways = " and ".join(_WAYS.get(str(way), str(way)) for way in list_ways(section))
    asked = _MODES.get(mode, "") + ("" if mode == "deny" else ways)
    return People(
        asked=asked,
        persons=int(section.get("persons", 1)),
        requester_may_approve=bool(section.get("requester_may_approve", True)),
        scope=str(section.get("scope") or ""),
    )
