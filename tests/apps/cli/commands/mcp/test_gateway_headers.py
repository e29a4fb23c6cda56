"""amplifier mcp gateway --header-env: values that stand on no command line."""

from __future__ import annotations

import click
import pytest

from amplifier_apps.cli.commands.mcp.gateway import _read_headers


def test_a_header_has_the_value_of_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the word before it that the person has written."""
    monkeypatch.setenv("TOKEN", "a b=c")
    given = ("X-Key=TOKEN", "Authorization=Bearer TOKEN")
    assert _read_headers(given) == {"X-Key": "a b=c", "Authorization": "Bearer a b=c"}


@pytest.mark.parametrize("given", ["X-Key", "=TOKEN", "X-Key=", "X-Key=Bearer ", "X-Key=UNSET"])
def test_a_header_without_a_value_is_refused(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server would answer something that nobody understands."""
    monkeypatch.delenv("UNSET", raising=False)
    with pytest.raises(click.BadParameter):
        _read_headers((given,))
