"""What the tests of the trail share."""

from __future__ import annotations

import pytest

from amplifier_audit import log


@pytest.fixture
def nameless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs that are given no name have none, as those of earlier versions."""
    monkeypatch.setattr(log, "choose_name", lambda directory: None)
