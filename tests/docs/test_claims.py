"""What the README claims in numbers and lists is what there is, and what was tried."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from amplifier_hooks.agent.session.assembled import MOST_CONTINUATIONS
from amplifier_hooks.coding_agents.known import TITLES
from amplifier_hooks.coding_agents.sessions.handlers import MOST_BLOCKED_STOPS
from amplifier_hooks.coverage import TABLES
from tests.agents.programs import PROGRAMS

ROOT = Path(__file__).parents[2]
README = " ".join((ROOT / "README.md").read_text().split())
INSTALLING = " ".join((ROOT / "docs" / "installing.md").read_text().split())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TEENS = "sixteen seventeen eighteen nineteen twenty twenty-one twenty-two"
NUMBERS = dict(enumerate(TEENS.split(), 16))


def test_the_number_of_hook_modules_is_right() -> None:
    """Whoever adds one corrects the sentence."""
    known = PROJECT["entry-points"]["amplifier.modules"]
    number = sum(name.startswith("hooks-") for name in known)
    assert f"{NUMBERS[number].capitalize()} hook modules come with it" in README


@pytest.mark.parametrize("page", [README, INSTALLING], ids=["README", "installing"])
def test_the_pythons_that_were_tried_are_those_of_the_classifiers(page: str) -> None:
    """A version that is promised is named wherever platforms are."""
    versions = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if "Python :: 3." in one]
    listed = f"{', '.join(versions[:-1])} and {versions[-1]}"
    assert f"with Python {listed}" in page


def test_agents_that_nobody_has_run_are_named_as_such() -> None:
    """`make agents` runs the others."""
    (sentence,) = re.findall(r"The same bundle and the same hooks govern ([^.]*)\.", README)
    tried, _, untried = sentence.partition("by its documentation only, ")
    assert {name for name, title in TITLES.items() if title in tried} == set(PROGRAMS)
    assert {name for name, title in TITLES.items() if title in untried} == set(TITLES) - set(
        PROGRAMS
    )


def test_every_framework_that_has_an_adapter_is_named() -> None:
    """And has a row in the table of the index."""
    index = (ROOT / "docs" / "adapters" / "index.md").read_text()
    for one in TABLES:
        if one.name != "agent-hooks":  # a contract, and no framework
            assert one.framework in README
            assert f"({one.name}.md)" in index


WORDS = ("prompt injection", "guardrails", "human in the loop", "policy as code", "audit log")


@pytest.mark.parametrize("word", WORDS)
def test_the_words_that_people_search_for_are_there(word: str) -> None:
    """Above the fold, where search engines and people look."""
    assert word in README.replace("*", "").partition("make demo")[0]


def test_platforms_that_were_not_tried_are_named_as_such() -> None:
    """Whoever tries one corrects the sentence, and the classifiers."""
    assert "Tested on Linux" in README
    assert "macOS and Windows have not been tested" in README
    systems = [one for one in PROJECT["classifiers"] if one.startswith("Operating System")]
    assert all("Linux" in one for one in systems)


@pytest.mark.parametrize("page", ["guests.md", "events.md", "writing-hooks.md"])
def test_how_often_hooks_keep_an_agent_working_is_what_pages_say(page: str) -> None:
    """In sessions of ours as in those of coding agents."""
    assert "eight times in a row" in (ROOT / "docs" / page).read_text()
    assert MOST_CONTINUATIONS == MOST_BLOCKED_STOPS == 8
