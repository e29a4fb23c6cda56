"""Commands about trails do not look where a bundle says that nobody trusts."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from amplifier_audit import AuditLog
from tests.hooks.cli.program import invoke
from tests.support.trust import trust_project

PLANTED = "planted-session"
COMMANDS = [
    ["audit", "list"],
    ["audit", "list", "--here"],
    ["audit", "show"],
    ["audit", "show", PLANTED],
    ["audit", "verify"],
    ["audit", "verify", PLANTED],
    ["audit", "stats"],
    ["audit", "stats", PLANTED],
    ["report", "--format", "json", "-o", "-"],
    ["report", PLANTED, "--format", "json", "-o", "-"],
    ["hooks", "stats"],
    ["hooks", "stats", "--everywhere"],
    ["hooks", "backtest", "--rules", "rules.yaml"],
    ["rules", "suggest"],
    ["sessions", "list"],
    ["replay"],
    ["replay", PLANTED],
]


@pytest.fixture
def folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone whose bundle names a folder of its own, by a variable of the person."""
    made = home / "clone"
    made.mkdir()
    monkeypatch.chdir(made)
    monkeypatch.setenv("CANARY", "canary-4f1d9a7c")
    (made / "rules.yaml").write_text("- {name: no, tool: Bash, action: deny, reason: no}\n")
    bundle = {"name": "theirs", "audit": {"path": "trails/${CANARY}"}}
    (made / "amplifier.yaml").write_text(yaml.safe_dump(bundle))
    log = AuditLog(made / "trails" / "canary-4f1d9a7c" / PLANTED, name=PLANTED)
    origin = {"folder": str(made), "bundle": "theirs", "file": str(made / "amplifier.yaml")}
    log.append("bundle_loaded", origin)
    log.append("prompt", {"text": "planted text"}, session=PLANTED, turn=1)
    log.close_now()
    return made


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_reads_trails_where_an_untrusted_bundle_says(
    words: list[str], folder: Path
) -> None:
    """It says so in one line; trusted, the same bundle is heeded, without a word."""
    done = invoke(*words)
    assert "canary" not in done.output
    assert "planted text" not in done.output
    assert PLANTED not in done.stdout
    assert done.stderr.count("its audit.path was not used") == 1
    trust_project(folder)
    assert "audit.path was not used" not in invoke(*words).output


def test_the_planted_trail_is_found_once_the_bundle_is_trusted(folder: Path) -> None:
    """Else the test above would show nothing."""
    trust_project(folder)
    assert "planted text" in invoke("audit", "show").stdout
    assert PLANTED in invoke("audit", "list").stdout
