"""Sessions and records as values."""

from __future__ import annotations

import json

from amplifier_hooks.approvals.encoding import to_json
from amplifier_hooks.approvals.models import SessionEntry, SessionRecord


def test_entries_and_records_survive_the_journey_as_json() -> None:
    """As an agent on another machine sends them."""
    entry = SessionEntry(id="s", machine="laptop", user="ann", name="Fix it", hosted=True, turns=3)
    assert SessionEntry.model_validate(json.loads(to_json(entry))) == entry
    record = SessionRecord(
        number=1, time=2.5, type="dispatch", event="tool:pre", body={"hooks": [{"hook": "a"}]}
    )
    assert SessionRecord.model_validate(json.loads(to_json(record))) == record
