"""What is known of each agent: its title, its place, and the ways to start it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import PurePosixPath

import pytest

from amplifier_hooks.coding_agents.installing.agents import AGENTS
from amplifier_hooks.coding_agents.installing.places import PLACES
from amplifier_hooks.coding_agents.known import (
    KNOWN,
    MODES,
    TITLES,
    can_be_unguarded,
    find_unguarded,
    has_option,
    list_unguarded,
)
from amplifier_hooks.guards.policy.agent_programs import AGENT_PROGRAMS
from amplifier_hooks.guards.policy.protected_place_table import CONFIG, HOME, PROJECT

GEMINI = ("node", "/usr/lib/gemini.js")


@pytest.mark.parametrize(
    "words",
    [
        ("--acp",),
        ("--acp=true",),
        ("--acp", "true"),
        ("--acp", "--yolo"),
        ("-m", "x", "--experimental-acp"),
        ("--experimentalAcp",),
        ("--experimental_acp=1",),
        ("--", "--acp"),
    ],
)
def test_a_mode_that_asks_nobody_is_seen(words: tuple[str, ...]) -> None:
    """However the option is written, and whatever starts the program."""
    for start in (
        GEMINI,
        ("/usr/bin/node", "--max-old-space-size=99", "/x/gemini.js"),
        ("gemini",),
    ):
        assert find_unguarded("gemini", (*start, *words)) is not None


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("-p", "acp"),
        ("-p", "use --acp in Zed"),
        ("--acp=false",),
        ("--acp", "false"),
        ("--no-acp",),
        ("-acp",),
        ("--acpx",),
    ],
)
def test_other_modes_are_not(words: tuple[str, ...]) -> None:
    """Nobody is refused for a word that looks like it."""
    assert find_unguarded("gemini", (*GEMINI, *words)) is None
    assert find_unguarded("gemini", words) is None  # also where the system shows nothing else


def test_the_mode_of_one_agent_is_not_that_of_another() -> None:
    """Copilot asks its hooks in this mode."""
    assert find_unguarded("copilot", ("copilot", "--acp")) is None
    assert not can_be_unguarded("copilot")
    assert has_option(("copilot", "--acp"), frozenset({"acp"}))


def test_each_row_of_the_table_says_why_nothing_is_judged() -> None:
    """And no two have the same name."""
    assert all(one.note for one in MODES if not one.holds)
    assert not any(one.options for one in MODES if one.holds)
    assert len({one.start for one in MODES}) == len(MODES)


def test_every_mode_that_is_not_judged_is_named_once() -> None:
    """In a sentence for each reason."""
    for agent in {one.agent for one in MODES}:
        said = list(list_unguarded(agent))
        named = [start for one in said for start in one[13 : one.rindex(" (")].split(" · ")]
        assert named == [one.start for one in MODES if one.agent == agent and not one.holds]
        assert all(one.startswith("not guarded: ") for one in said)


def test_every_agent_has_a_title_and_a_place() -> None:
    """In one order."""
    assert list(TITLES) == list(AGENTS) == list(PLACES)
    assert all(AGENTS[name].title == title for name, title in TITLES.items())


def is_sealed(file: PurePosixPath, sealed: Collection[str]) -> bool:
    """A sealed place is a file, or a folder with all below it."""
    return any(str(one) in sealed for one in (file, *file.parents))


@pytest.mark.parametrize("name", KNOWN)
def test_no_other_agent_may_change_the_settings_of_an_agent(name: str) -> None:
    """They are protected places, so that the guard of one is safe from all."""
    place = KNOWN[name].place
    home = place.find_home({"HOME": "/home/me", "XDG_CONFIG_HOME": "/home/me/.config"})
    below = home.relative_to("/home/me").as_posix()
    personal = {*HOME, *(f".config/{one}" for one in CONFIG)}
    assert [one for one in place.project if not is_sealed(PurePosixPath(one), PROJECT)] == []
    assert [one for one in place.user if not is_sealed(PurePosixPath(below, one), personal)] == []


def test_every_agent_is_known_by_the_programs_that_start_it() -> None:
    """Else a guarded agent could start one that has no guard."""
    assert {one.guard for one in AGENT_PROGRAMS if one.guard} == set(KNOWN)
