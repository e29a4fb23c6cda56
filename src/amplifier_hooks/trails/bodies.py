"""Bodies of all records, typed: `read_body` is the one way to the body of a record.

The kernel's bodies are declared in `amplifier_core.records`, the log's own in
`amplifier_audit.own_records`, and here those that are written above the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_audit.own_records import OWN_BODIES, OwnBody, parse_own
from amplifier_core import records
from amplifier_core.records import HookAnswer, Text, list_types


@dataclass(slots=True, kw_only=True)
class BundleLoaded(records.Body):
    """Where a session comes from. Older trails have no digest of the hooks."""

    type = "bundle_loaded"
    folder: str
    bundle: str
    file: str
    """Empty for the packaged bundle alone."""
    digest: str
    hooks_digest: str


SELF_TEST_PREFIX = "amplifier-check-"
SELF_TEST_HOOK = "amplifier-check"
"""What `amplifier guard check` calls its own sessions, behind the agent's name, and its hook."""


@dataclass(slots=True, kw_only=True)
class SelfTest(records.Body):
    """A command of ours holds this session with itself."""

    type = "self_test"
    command: str


@dataclass(slots=True, kw_only=True)
class GuardAlarm(records.Body):
    """What guards a coding agent is not what it was, or was not asked."""

    type = "guard_alarm"
    agent: str
    kind: str
    found: tuple[Text, ...]


@dataclass(slots=True, kw_only=True)
class RecordsDropped(records.Body):
    """A server was too slow: so many records were not published."""

    type = "records_dropped"
    count: int


Body = records.Body | OwnBody

TYPES: Mapping[str, type[records.Body]] = {
    **records.TYPES,
    **list_types(BundleLoaded, SelfTest, GuardAlarm, RecordsDropped),
}
"""The types that sessions write, whoever runs them."""


def read_body(record: Mapping[str, Any]) -> Body:
    """What a record says; `Other` for a type that is declared nowhere."""
    kind = record["type"]
    members = record["body"]
    if kind in OWN_BODIES:
        return parse_own(kind, members)
    body = records.parse_body(kind, members, TYPES)
    if isinstance(body, HookAnswer) and isinstance(record["hook"], str) and "hook" not in members:
        body.hook = record["hook"]  # older versions say it beside the body only
    return body
