"""What would swallow a cancellation is not used."""

from __future__ import annotations

from pathlib import Path

SRC = Path(__file__).parents[2] / "src"


def test_nobody_waits_with_wait_for() -> None:
    """Before Python 3.12 it drops a cancellation that comes when its work has just ended.

    A Ctrl-C at that moment would be lost; `asyncio.timeout` loses none.
    """
    users = [
        str(path.relative_to(SRC))
        for path in SRC.rglob("*.py")
        if "asyncio.wait_for(" in path.read_text(encoding="utf-8")
    ]
    assert users == []
