"""`audit verify` and `report` use the key, the anchors and the witness that a bundle names."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from amplifier_audit import AuditLog, anchor_to_file, create_key
from amplifier_audit.keys import Ed25519Signer
from amplifier_audit.witness import Witness, WitnessSender
from tests.hooks.cli.program import Outcome, invoke
from tests.support.trust import trust_project
from tests.support.witness_server import WitnessServer, run_witness

SESSION = "claude-2f1e3a4b-0000-4000-8000-000000000001"
TOKEN = "bearer-of-a-test"


@dataclass
class World:
    """A folder with a bundle, and what lies outside of the trails."""

    folder: Path
    root: Path
    key: Path
    anchor: Path
    witness: WitnessServer
    signer: Ed25519Signer
    names: dict[str, Any] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        return self.folder / "amplifier.yaml"

    def write_bundle(self, *kinds: str, trusted: bool = True) -> None:
        """A bundle that names these kinds of evidence."""
        audit: dict[str, dict[str, Any]] = {
            "sign": {"sign": str(self.key)},
            "anchors": {"anchors": [str(self.anchor)]},
            "witness": {"witness": self.witness.url, "witness_token": TOKEN},
        }
        named = {key: value for kind in kinds for key, value in audit[kind].items()}
        self.file.write_text(yaml.safe_dump({"name": "work", "audit": named}))
        if trusted:
            trust_project(self.folder)

    def record(
        self, *kinds: str, session: str = SESSION, signer: Ed25519Signer | None = None
    ) -> Path:
        """A session whose checkpoints went to these."""
        path, anchors = self.root / session, []
        if "anchors" in kinds:
            anchors.append(anchor_to_file(self.anchor))
        if "witness" in kinds:
            anchors.append(WitnessSender(Witness(self.witness.url, TOKEN), path, lambda _: None))
        signing = (signer or self.signer) if "sign" in kinds else None
        log = AuditLog(path, name=session, signer=signing, anchors=tuple(anchors))
        origin = {"folder": str(self.folder), "bundle": "work", "file": str(self.file)}
        log.append("bundle_loaded", origin)
        log.append("prompt", {"text": "hello"}, session=session, turn=1)
        log.close_now()
        return path


@pytest.fixture
def world(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Everything that a bundle can name."""
    folder, outside = home / "work", home / "outside"
    for one in (folder, outside):
        one.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("AMPLIFIER_TOKEN", raising=False)
    root = home / "data/amplifier/audit"
    root.mkdir(parents=True)
    key = outside / "audit.key"
    with run_witness(WitnessServer(TOKEN)) as witness:
        yield World(folder, root, key, outside / "checkpoints", witness, create_key(key))


def verify(*options: str) -> Outcome:
    """What the command says of the session."""
    return invoke("audit", "verify", SESSION, *options)


def read_proof() -> dict[str, Any]:
    """What a report says of it."""
    told = json.loads(invoke("report", SESSION, "--format", "json").stdout)
    [session] = told["chapters"]
    return dict(session["proof"])


ALL = ("sign", "anchors", "witness")


@pytest.mark.parametrize("kinds", [ALL, ("anchors",), ("witness",), ("sign", "anchors")])
def test_a_trail_is_proven_by_what_its_bundle_names(world: World, kinds: tuple[str, ...]) -> None:
    """Wherever the command is run; both commands say the same, and with what it was verified."""
    world.write_bundle(*kinds)
    world.record(*kinds)
    done = verify()
    assert (done.code, done.stdout.split(":")[0]) == (0, "PROVEN"), done.output
    assert f"note: verified with what {world.file} names" in done.stdout
    assert ("2 signatures checked" in done.stdout) == ("sign" in kinds)
    assert read_proof()["verdict"] == "proven"


def test_a_bundle_that_nobody_trusts_decides_nothing(world: World) -> None:
    """Nothing that it names is read or asked; the message says what would do."""
    world.write_bundle(*ALL, trusted=False)
    world.record(*ALL)
    world.witness.seen.clear()
    done = verify()
    assert done.code == 3
    assert "CONSISTENT, END NOT PROVEN" in done.stdout
    assert "it is not trusted as it is now" in done.stdout
    assert "--witness" in done.stdout
    assert read_proof()["verdict"] == "consistent"
    assert world.witness.seen == []


def test_a_bundle_that_changed_since_it_was_trusted_decides_nothing(world: World) -> None:
    """It may name a witness of somebody else's."""
    world.write_bundle("anchors")
    world.record("anchors")
    world.write_bundle("witness", trusted=False)
    assert verify().code == 3
    assert world.witness.seen == []


def test_what_a_person_gives_is_all_that_is_used(world: World) -> None:
    """Then the bundle is not looked at, and nobody is asked."""
    world.write_bundle(*ALL)
    world.record(*ALL)
    world.witness.seen.clear()
    done = verify("--anchor", str(world.anchor))
    assert (done.code, "names" in done.stdout) == (0, True)
    assert "2 checkpoints are signed, which was not checked: --key FILE" in done.stdout
    assert world.witness.seen == []


@pytest.mark.parametrize("kind", ALL)
def test_a_trail_from_before_something_was_named_is_not_proven_and_not_accused(
    world: World, kind: str
) -> None:
    """Nobody can tell it from one that was replaced, so both are said."""
    world.anchor.write_text("")
    others = [one for one in ALL if one != kind]
    world.record(*others)
    world.record(kind, session="another")
    world.write_bundle(*ALL)
    done = verify()
    assert done.code == 3, done.output
    assert done.stdout.startswith("CONSISTENT, NOT PROVEN")
    assert "after this trail was begun, or the trail was replaced" in done.stdout
    assert read_proof()["verdict"] == "consistent"


def test_a_witness_that_does_not_answer_leaves_the_trail_unproven(world: World) -> None:
    """Whoever changed the files may also have cut the line; it is asked once for all trails."""
    world.write_bundle(*ALL)
    world.record(*ALL)
    world.record(*ALL, session="another")
    world.witness.answer = (503, b"{}")
    world.witness.seen.clear()
    told = json.loads(invoke("report", "--all", "--format", "json").stdout)
    assert {one["proof"]["verdict"] for one in told["chapters"]} == {"consistent"}
    assert len(world.witness.seen) == 1
    assert "answered 503" in verify().stdout


def replace_all(world: World) -> None:
    shutil.rmtree(world.root / SESSION)
    world.record("sign")


def replace_and_sign_anew(world: World) -> None:
    shutil.rmtree(world.root / SESSION)
    world.anchor.unlink()
    world.record("sign", "anchors", signer=create_key(world.folder / "other.key"))


def replace_unsigned(world: World) -> None:
    shutil.rmtree(world.root / SESSION)
    world.anchor.unlink()
    world.record("anchors")


def edit(world: World) -> None:
    [segment] = (world.root / SESSION).glob("*.jsonl")
    segment.write_bytes(segment.read_bytes().replace(b"hello", b"hullo"))


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (edit, "tampered"),
        (replace_all, "tampered"),
        (replace_and_sign_anew, "consistent"),
        (replace_unsigned, "consistent"),
    ],
)
def test_no_change_of_the_files_is_called_proven(
    world: World, change: Callable[[World], None], verdict: str
) -> None:
    """Nor one of the anchors beside them, without the key."""
    world.write_bundle("sign", "anchors")
    world.record("sign", "anchors")
    change(world)
    assert read_proof()["verdict"] == verdict
    assert verify().code == {"tampered": 5, "consistent": 3}[verdict]
