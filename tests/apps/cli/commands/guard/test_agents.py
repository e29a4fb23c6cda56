"""amplifier guard AGENT: which settings are meant, and which options go together."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apps.cli.program import invoke
from tests.support.agent_homes import list_left
from tests.support.trust import trust_project


def test_a_folder_without_a_bundle_is_guarded_everywhere(home: Path) -> None:
    """In the settings of the person."""
    done = invoke("guard", "claude")
    assert done.code == 0, done.output
    assert "in every folder" in done.stdout
    assert str(home / ".claude" / "settings.json") in done.stdout


def test_a_project_with_a_bundle_is_guarded_by_itself(project: Path) -> None:
    """Also from a folder within it; --user says otherwise."""
    trust_project(project)
    done = invoke("guard", "claude")
    assert "in this project" in done.stdout
    assert (project / ".claude" / "settings.local.json").is_file()
    done = invoke("guard", "claude", "--user")
    assert "in every folder" in done.stdout


def test_project_can_be_wanted_where_there_is_no_bundle(home: Path) -> None:
    """The folder is then the project."""
    (home / "p").mkdir()
    done = invoke("guard", "gemini", "--project")
    assert done.code == 0
    assert str(home / ".gemini" / "settings.json") in done.stdout


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--status", "--remove"), "only one of"),
        (("--remove", "--every-event"), "say what to install"),
        (("--status", "--http"), "say what to install"),
        (("--bundle", "gone.yaml"), "does not exist"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    home: Path, options: tuple[str, ...], what: str
) -> None:
    """Before anything is changed."""
    done = invoke("guard", "claude", *options)
    assert done.code == 2
    assert what in done.stderr
    assert list_left(home) == []


def test_only_claude_code_speaks_http(home: Path) -> None:
    """The option is unknown to the others."""
    assert invoke("guard", "codex", "--http").code == 2
    done = invoke("guard", "claude", "--http")
    assert done.code == 0
    assert "NO_PROXY must name 127.0.0.1" in done.stdout
    assert "http://127.0.0.1:" in (home / ".claude" / "settings.json").read_text()


def test_a_bundle_is_written_with_its_whole_path(home: Path) -> None:
    """Agents work in any folder."""
    (home / "b.yaml").write_text("name: mine\n")
    trust_project(home, home / "b.yaml")
    done = invoke("guard", "claude", "--bundle", "b.yaml")
    assert done.code == 0, done.output
    assert f"'{home}/b.yaml' ||" in (home / ".claude" / "settings.json").read_text()


def test_noisy_events_are_added_on_demand(home: Path) -> None:
    """And go again without the option."""
    settings = home / ".gemini" / "settings.json"
    invoke("guard", "gemini", "--every-event")
    assert "AfterModel" in settings.read_text()
    assert "is guarded with these options now" in invoke("guard", "gemini").stdout
    assert "AfterModel" not in settings.read_text()
