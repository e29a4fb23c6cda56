"""The clock of a store on one machine: nobody can set it, and it never goes back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.approvals.stores import sqlite_connection as clocks
from amplifier_hooks.approvals.stores.sqlite_connection import (
    BootClock,
    read_boot_id,
    read_time_since_boot,
)


class Machine:
    """A machine whose wall clock can be set; it may be booted again."""

    def __init__(self, wall: float = 1_000_000.0) -> None:
        self.wall = wall
        self.up = 50.0
        self.boot = 1

    def pass_time(self, seconds: float) -> None:
        self.wall += seconds
        self.up += seconds

    def restart(self, seconds_off: float) -> None:
        self.wall += seconds_off
        self.up = 5.0
        self.boot += 1

    def start_process(self, connection: sqlite3.Connection) -> BootClock:
        clock = BootClock(lambda: self.wall, lambda: self.up, f"boot-{self.boot}")
        clock.attach(connection)
        return clock


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    with closing(make_database()) as connection:
        yield connection


def make_database() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.row_factory = sqlite3.Row
    return connection


def test_setting_the_wall_clock_moves_no_deadline(database: sqlite3.Connection) -> None:
    """An hour forward or back, before or after a second process starts: all agree."""
    machine = Machine()
    first = machine.start_process(database)
    assert first() == 1_000_000.0
    machine.wall += 3600
    second = machine.start_process(database)
    machine.pass_time(10)
    assert first() == second() == 1_000_010.0
    machine.wall -= 7200
    machine.pass_time(10)
    assert first() == second() == machine.start_process(database)() == 1_000_020.0


def test_a_restart_of_the_machine_takes_the_wall_clock_anew(database: sqlite3.Connection) -> None:
    """Time passes while a machine is off."""
    machine = Machine()
    machine.start_process(database)
    machine.restart(500.0)
    assert machine.start_process(database)() == 1_000_500.0


@given(st.lists(st.tuples(st.sampled_from(["pass", "set", "boot"]), st.integers(-5000, 5000))))
def test_the_clock_never_goes_back(steps: list[tuple[str, int]]) -> None:
    """Whatever happens to the wall clock, over restarts of processes and of the machine."""
    machine = Machine()
    with closing(make_database()) as database:
        clock = machine.start_process(database)
        last = clock()
        for what, seconds in steps:
            if what == "pass":
                machine.pass_time(abs(seconds))
            elif what == "set":
                machine.wall += seconds
            else:
                clock.save(database)
                machine.restart(seconds)
                clock = machine.start_process(database)
            assert clock() >= last
            last = clock()
            clock.save(database)


def test_how_far_it_came_is_saved_about_once_a_second(database: sqlite3.Connection) -> None:
    """Not with every write."""
    machine = Machine()
    clock = machine.start_process(database)
    saved = []
    for _ in range(30):
        machine.pass_time(0.1)
        clock.save(database)
        saved.append(database.execute("SELECT latest FROM boot_clock").fetchone()["latest"])
    assert 2 <= len(set(saved)) - 1 <= 4


def test_this_machine_has_a_boot_and_a_time_since() -> None:
    """The id stays, and the time goes on."""
    assert read_boot_id() == read_boot_id() != ""
    before = read_time_since_boot()
    assert 0 < before <= read_time_since_boot()


def test_without_a_boot_id_each_opening_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes then agree only as far as the wall clock does."""
    monkeypatch.setattr(clocks, "_BOOT_ID", Path("/nowhere/boot_id"))
    assert read_boot_id() != read_boot_id()
