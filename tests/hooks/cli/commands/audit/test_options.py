"""Which log is meant, and which records."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest

from amplifier_audit import AuditError, AuditLog
from amplifier_hooks import SessionStore
from amplifier_hooks.cli.commands.audit.options import Unreadable, parse_time, report_errors
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import Outcome, invoke


def audit(*arguments: object) -> Outcome:
    return invoke("audit", *arguments)


@pytest.fixture(autouse=True)
def own_clock() -> Iterator[None]:
    """The zone of this machine is back after a test that moves it."""
    yield
    time.tzset()


@pytest.fixture
def trails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where sessions keep their trails; still empty."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "data" / "amplifier" / "audit"
    folder.mkdir(parents=True)
    return folder


def test_a_trail_is_named_by_the_start_of_its_sessions_id(log: Path, trails: Path) -> None:
    """An unknown name says what names there are; a log of another name does not belong there."""
    AuditLog(trails / "abc-123").close_now()
    log.rename(trails / "def-456")
    assert audit("verify", "abc").code == 3
    assert audit("verify", "def").code == 5
    unknown = audit("verify", "nope")
    assert unknown.code == 2
    assert "No trail 'nope'" in unknown.stderr
    assert "amplifier audit list" in unknown.stderr


def test_the_trail_that_was_taken_is_named_on_standard_error(project: Project) -> None:
    """Who leaves the name out learns which one it was; the output stays clean."""
    project({"text": "Hello."})
    invoke("run", "hello")
    done = audit("show", "--json", "--limit", "1")
    (session,) = SessionStore().list()
    told = f"The newest trail of amplifier.yaml in this folder: {session.id[:8]}, just now\n"
    assert done.stderr == told
    assert len(done.stdout.splitlines()) == 1


def test_a_command_that_deletes_or_proves_wants_a_name(trails: Path) -> None:
    """Nothing is redacted by a guess."""
    for arguments in (("prove",), ("redact",)):
        done = audit(*arguments)
        assert done.code == 2
        assert "Missing argument" in done.stderr


@pytest.mark.parametrize("given", ["tomorrow", "3x", "15.11.2026", "2026-11-15T09:00+99:00", ""])
def test_a_time_that_is_none_is_refused(log: Path, given: str) -> None:
    """With an example of one."""
    done = audit("show", log, "--after", given)
    assert done.code == 2
    assert f"{given!r} is not a time; write today, yesterday, 90min, 24h, 7d" in done.stderr


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (None, None),
        ("2026", "2026"),
        ("2026-11-15", "2026-11-15T05:00:00"),
        ("2026-11-15 09:00", "2026-11-15T14:00:00"),
        ("2026-11-15T09:00Z", "2026-11-15T09:00"),
        ("2026-11-15T09:00+02:00", "2026-11-15T07:00:00"),
        ("2026-11-15T09:00:01.25Z", "2026-11-15T09:00:01.25"),
    ],
)
def test_times_are_on_the_clock_of_whoever_asks(
    given: str | None, meant: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they are shown; unless they name a zone. Records have them in UTC."""
    move_to_new_york(monkeypatch)
    context = click.Context(click.Command("show"))
    assert parse_time(context, click.Option(["--after"]), given) == meant


def test_a_time_without_a_day_is_today(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the lines of the story have it."""
    context = click.Context(click.Command("show"))
    move_to_new_york(monkeypatch)
    today = datetime.now().astimezone().replace(hour=9, minute=30, second=0, microsecond=0)
    meant = parse_time(context, click.Option(["--after"]), "09:30")
    assert meant == today.astimezone(UTC).isoformat().removesuffix("+00:00")


def move_to_new_york(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "EST5")
    time.tzset()


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
