"""What a command may ask for beyond its sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.agent.session.capabilities import SandboxOptions, SessionWall
from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.agent.tools.bash import (
    BashInput,
    Grants,
    Needs,
    NeedsBook,
    ask_for,
    find_grants,
)
from amplifier_hooks.guards.policy.protected_places import list_places
from amplifier_hooks.sandbox.protection import Protection

HOLDS = Protection("landlock", "Landlock")


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    for name in ("work/.git/hooks", "data", "outside"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path.resolve()


def make_wall(folders: Path, found: Protection = HOLDS, **options: str) -> SessionWall:
    root = folders / "work"
    places = list_places([root], hidden=[folders / "data"])
    return SessionWall(SandboxOptions.read(options), [root], places, found)


def find(folders: Path, wall: SessionWall | None = None, **needs: object) -> Grants:
    asked = Needs.model_validate({"reason": "because", **needs})
    return find_grants(asked, wall or make_wall(folders), folders / "work")


def test_what_the_sandbox_allows_anyway_needs_no_question(folders) -> None:
    """Nor does anything where there is no sandbox."""
    assert not find(folders, write=["."], network=True)
    without = make_wall(folders, Protection(None, ""))
    assert not find(folders, without, write=["../outside"], unix_sockets=True)
    assert not find_grants(None, make_wall(folders), folders)


def test_paths_are_asked_about_as_they_really_are(folders) -> None:
    """Whatever a link calls them."""
    (folders / "work" / "link").symlink_to("../outside")
    assert find(folders, write=["link"]).write == (folders / "outside",)


def test_a_sealed_place_can_be_asked_for_and_is_called_so(folders) -> None:
    """Though it lies inside the root."""
    grants = find(folders, write=[".git/hooks"])
    assert grants.write == (folders / "work" / ".git" / "hooks",)
    question = ask_for(grants, "git x", "why", make_wall(folders))
    assert "can make programs run" in question.approval_prompt


@pytest.mark.parametrize("path", ["../data", "../data/key", "link"])
def test_nobody_is_asked_about_a_hidden_place(folders, path) -> None:
    """Not even by another name."""
    (folders / "work" / "link").symlink_to("../data")
    with pytest.raises(Refused, match="no person is asked"):
        find(folders, write=[path])


def test_what_does_not_exist_cannot_be_granted(folders) -> None:
    """The kernel's rules are about places that are there; the folder can be named."""
    with pytest.raises(Refused, match="name the folder"):
        find(folders, write=["../outside/new"])


def test_a_network_that_is_denied_is_not_asked_about(folders) -> None:
    """One that is to be asked about is."""
    with pytest.raises(Refused, match="denies the network"):
        find(folders, make_wall(folders, network="deny"), network=True)
    assert find(folders, make_wall(folders, network="ask"), network=True).network


def test_the_question_names_everything_and_the_command(folders) -> None:
    """And offers nothing that would last."""
    grants = Grants((folders / "outside",), network=True, unix_sockets=True)
    question = ask_for(grants, "make install", "the tests need it", make_wall(folders))
    for words in (
        str(folders / "outside"),
        "network",
        "Unix sockets",
        "make install",
        "tests need",
    ):
        assert words in question.approval_prompt
    assert question.approval_options == ["Allow once", "Deny"]
    assert question.approval_default == "deny"


def test_a_grant_belongs_to_one_exact_input() -> None:
    """Another command, or another need, was not asked about."""
    book = NeedsBook()
    needs = {"write": ["/opt"], "reason": "r"}
    asked = BashInput.model_validate({"command": "a", "needs": needs})
    book.write_down(asked, Grants((Path("/opt"),)))
    assert book.look_up(asked).write == (Path("/opt"),)
    for other in ({"command": "b", "needs": needs}, {"command": "a", "needs": {"reason": "r"}}):
        with pytest.raises(Refused, match="was not put to a person"):
            book.look_up(BashInput.model_validate(other))


def test_the_book_does_not_grow_for_ever() -> None:
    """The oldest entries go."""
    book = NeedsBook()
    inputs = [BashInput(command=f"c{number}") for number in range(300)]
    for one in inputs:
        book.write_down(one, Grants())
    with pytest.raises(Refused):
        book.look_up(inputs[0])
    assert book.look_up(inputs[-1]) == Grants()
