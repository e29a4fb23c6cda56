"""Which log is meant, and which records."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest

from amplifier_apps.cli.commands.audit.options import Unreadable, parse_time, report_errors
from amplifier_audit import AuditError
from tests.apps.cli.program import Outcome, invoke


def audit(*arguments: object) -> Outcome:
    return invoke("audit", *arguments)


@pytest.fixture
def trails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where sessions keep their trails; still empty."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "data" / "amplifier" / "audit"
    folder.mkdir(parents=True)
    return folder


def test_without_a_name_the_newest_trail_is_meant(log: Path, trails: Path) -> None:
    """A session's trail is found by the start of its id, the newest one without any name."""
    nothing = audit("stats")
    assert nothing.code == 2
    assert "no trail" in nothing.stderr
    log.rename(trails / "abc-123")
    assert audit("verify").code == 3
    assert audit("verify", "abc").code == 3
    assert audit("verify", "nope").code == 2


def test_the_newest_trail_is_named_on_standard_error(log: Path, trails: Path) -> None:
    """Who leaves the name out learns which one was taken; the output stays clean."""
    log.rename(trails / "abc-123")
    (trails / "older").mkdir()
    os.utime(trails / "older", (1, 1))
    done = audit("show", "--json", "--limit", "1")
    assert done.stderr == f"The newest trail: {trails / 'abc-123'}\n"
    assert len(done.stdout.splitlines()) == 1


def test_a_command_that_deletes_or_proves_wants_a_name(trails: Path) -> None:
    """Nothing is redacted by a guess."""
    for arguments in (("prove",), ("redact",)):
        done = audit(*arguments)
        assert done.code == 2
        assert "Missing argument" in done.stderr


@pytest.mark.parametrize("given", ["yesterday", "15.11.2026", "2026-11-15T09:00+99:00", ""])
def test_a_time_that_is_none_is_refused(log: Path, given: str) -> None:
    """With an example of one."""
    done = audit("show", log, "--after", given)
    assert done.code == 2
    assert f"{given!r} is no time" in done.stderr


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (None, None),
        ("2026-11-15", "2026-11-15"),
        ("2026-11-15 09:00", "2026-11-15T09:00"),
        ("2026-11-15T09:00Z", "2026-11-15T09:00"),
        ("2026-11-15T09:00+02:00", "2026-11-15T07:00:00"),
        ("2026-11-15T09:00:01.25Z", "2026-11-15T09:00:01.25"),
    ],
)
def test_times_are_compared_in_utc(given: str | None, meant: str | None) -> None:
    """As the records have them, whole or in part."""
    context = click.Context(click.Command("show"))
    assert parse_time(context, click.Option(["--after"]), given) == meant


def test_errors_of_the_trail_are_sentences() -> None:
    """What went wrong, and with which file; a mistake of ours stays one."""

    @report_errors
    def fail(error: Exception) -> None:
        raise error

    with pytest.raises(Unreadable, match=r"^not a log$") as raised:
        fail(AuditError("not a log"))
    assert raised.value.exit_code == 2
    with pytest.raises(Unreadable, match=r"^No such file or directory: x$"):
        fail(FileNotFoundError(2, "No such file or directory", "x"))
    with pytest.raises(ZeroDivisionError):
        fail(ZeroDivisionError())
