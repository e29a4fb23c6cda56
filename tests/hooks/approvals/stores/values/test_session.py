"""Sessions and records as values."""

from __future__ import annotations

import json

from amplifier_hooks.approvals.models import SessionEntry, SessionRecord, read_plain, to_plain


def test_entries_and_records_survive_the_journey_as_json() -> None:
    """As an agent on another machine sends them."""
    entry = SessionEntry("s", "laptop", "ann", "Fix it", hosted=True, turns=3)
    assert read_plain(SessionEntry, json.loads(json.dumps(to_plain(entry)))) == entry
    record = SessionRecord(1, 2.5, "dispatch", "tool:pre", body={"hooks": [{"hook": "a"}]})
    assert read_plain(SessionRecord, json.loads(json.dumps(to_plain(record)))) == record
