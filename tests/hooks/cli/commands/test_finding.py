"""One thing that `amplifier doctor` looked at."""

from __future__ import annotations

from dataclasses import asdict

from amplifier_hooks.cli.commands.doctor import Finding


def test_a_finding_can_be_written_as_json() -> None:
    """`doctor --json` prints exactly these fields."""
    found = asdict(Finding("Keys", "A_KEY", "absent", "for a provider"))
    assert found == {
        "section": "Keys",
        "name": "A_KEY",
        "health": "absent",
        "detail": "for a provider",
    }
