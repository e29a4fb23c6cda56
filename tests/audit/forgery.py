"""Attacks on the files of a trail, by somebody who can write them all but has no key.

Two sessions have trails in neighbouring folders, signed with one key and anchored in one file that
the attacker cannot reach. Random attacks are carried out on the folder of one of them, one after
another; then it is verified. Whatever the verdict claims must have happened.
`python -m tests.audit.forgery --cases 100000` for many.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_audit.anchor_files import read_checkpoints
from amplifier_audit.anchors import anchor_to_file
from amplifier_audit.checkpoint import Note, make_note
from amplifier_audit.encoding import encode_body, encode_source
from amplifier_audit.errors import NotALog
from amplifier_audit.log import AuditLog
from amplifier_audit.log_directory import AuditDirectory, parse_or_none
from amplifier_audit.merkle import Tree, hash_leaf
from amplifier_audit.own_records import OWN_TYPES
from amplifier_audit.record import Chain, Head, parse_record
from amplifier_audit.report import Report
from amplifier_audit.settings import AuditSettings
from amplifier_audit.state import State, StateFile
from amplifier_audit.verification import verify
from tests.audit.support import SIGNER, VERIFIER

TYPES = (*sorted(OWN_TYPES), "tool_started", "approval_decided", "session_ended")


@dataclass(frozen=True)
class Scene:
    """Two trails as their writers left them, and everything that was ever written to them."""

    root: Path
    lines: dict[str, list[bytes]]
    first: dict[str, int]
    notes: list[Note]

    def copy_to(self, target: Path) -> None:
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.root, target)


def make_scene(root: Path, *, retain: int | None = None) -> Scene:
    """Trails of several segments; `ann` was opened twice, yesterday's copy is kept beside it."""
    lines: dict[str, list[bytes]] = {}
    settings = AuditSettings(segment_bytes=2500, gather_seconds=0.0001, retain_segments=retain)
    for name in ("ann", "bob"):
        asyncio.run(_write(root, name, settings, 12))
        shutil.copytree(root / name, root / "yesterday" / name)
        lines[name] = _remember(root / name, [])
        asyncio.run(_write(root, name, settings, 9))
        lines[name] = _remember(root / name, lines[name])
    first = {name: _read_lines(root / name)[0] for name in lines}
    notes = read_checkpoints(root / "anchors")
    sequences = {name: parse_record(line)["seq"] for name, line in first.items()}
    return Scene(root, lines, sequences, notes)


async def _write(root: Path, name: str, settings: AuditSettings, count: int) -> None:
    anchors = (anchor_to_file(root / "anchors"),)
    log = await AuditLog.open(root / name, settings, signer=SIGNER, anchors=anchors, name=name)
    for number in range(count):
        log.append("tool_started", {"mark": f"{name} {number}"}, session=name)
        await log.commit()
    await log.close()


def _remember(path: Path, known: list[bytes]) -> list[bytes]:
    """All lines by sequence; those of segments that retention removed stay known."""
    lines = dict(enumerate(known))
    lines.update({parse_record(line)["seq"]: line for line in _read_lines(path)})
    return [lines.get(number, b"") for number in range(max(lines) + 1)]


def _read_lines(path: Path) -> list[bytes]:
    directory = AuditDirectory(path)
    return [
        line
        for number in directory.list_segments()
        for line in directory.segment_path(number).read_bytes().splitlines(keepends=True)
    ]


# What an attacker does


class Attacker:
    """Carries out attacks on one folder."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.root = root
        self.path = root / "ann"
        self.directory = AuditDirectory(self.path)
        self.chance = chance

    def attack(self) -> str:
        """One attack; its name."""
        way = self.chance.choice(WAYS)
        if self.path.is_dir():
            way(self)
        return way.__name__

    def _list_files(self) -> list[Path]:
        return sorted(path for path in self.path.rglob("*") if path.is_file())

    def _pick_file(self) -> Path | None:
        files = self._list_files()
        return self.chance.choice(files) if files else None

    def _pick_segment(self, *, last: bool = False) -> Path | None:
        numbers = self.directory.list_segments()
        if not numbers:
            return None
        number = numbers[-1] if last else self.chance.choice(numbers)
        return self.directory.segment_path(number)

    def delete_files(self) -> None:
        """Any subset of all files."""
        for path in self._list_files():
            if self.chance.random() < self.chance.choice([0.2, 0.5, 0.9]):
                path.unlink()

    def delete_first_segments(self) -> None:
        """As retention does."""
        numbers = self.directory.list_segments()
        for number in numbers[: self.chance.randrange(len(numbers) + 1)]:
            self.directory.segment_path(number).unlink()

    def delete_last_segments(self) -> None:
        """The end of the story, with the state that knew of it."""
        numbers = self.directory.list_segments()
        for number in numbers[self.chance.randrange(len(numbers) + 1) :]:
            self.directory.segment_path(number).unlink()
        self.directory.state.unlink(missing_ok=True)

    def truncate_at_a_line(self) -> None:
        """A segment ends earlier, with a whole record or within one."""
        if path := self._pick_segment(last=self.chance.random() < 0.7):
            lines = path.read_bytes().splitlines(keepends=True)
            kept = b"".join(lines[: self.chance.randrange(len(lines) + 1)])
            path.write_bytes(kept[: len(kept) - self.chance.choice([0, 0, 0, 1, 7])])

    def flip_a_byte(self) -> None:
        """The first, the last or any other byte of any file."""
        path = self._pick_file()
        if path and (content := bytearray(path.read_bytes())):
            place = self.chance.choice([0, len(content) - 1, self.chance.randrange(len(content))])
            content[place] ^= 1 << self.chance.randrange(8)
            path.write_bytes(bytes(content))

    def forge_records(self) -> None:
        """Records of any type at the end, with right hashes and without a signature."""
        path = self._pick_segment(last=True)
        if path is None or (end := find_end(self.path)) is None:
            return
        chain = Chain(end[0], end[1])
        forged = [self._forge(chain) for _ in range(self.chance.randrange(1, 4))]
        path.write_bytes(path.read_bytes() + b"".join(forged))

    def _forge(self, chain: Chain) -> bytes:
        type = self.chance.choice(TYPES)
        return chain.extend(
            encode_source(type, "ann", 1, None, None, None),
            encode_body(self._make_body(type, chain)),
        )

    def _make_body(self, type: str, chain: Chain) -> dict[str, Any]:
        if type == "segment_removed":
            return {"segment": self.chance.randrange(9)}
        if type in ("checkpoint", "sealed"):
            notes = [make_note(chain.log, chain.size, chain.tree.compute_root(), None, "ann")]
            notes += self.chance.choice([[], read_checkpoints(self.root / "anchors")])
            return {"note": self.chance.choice(notes).text}
        if type == "log_opened":
            head = chain.head
            previous = {**head.to_dict(), "root": head.compute_root().hex()}
            name = self.chance.choice(["ann", "bob", None])
            return {
                "name": name,
                "checkpoint_every": 1000,
                "key": SIGNER.public,
                "previous": previous,
            }
        return {"mark": "forged", "why": "forged"}

    def begin_a_segment(self) -> None:
        """A segment of forged records behind the last."""
        numbers = self.directory.list_segments()
        if numbers and (end := find_end(self.path)) is not None:
            chain = Chain(end[0], end[1])
            self.directory.segment_path(numbers[-1] + 1).write_bytes(self._forge(chain))

    def write_the_state_anew(self) -> None:
        """So that it fits what is there, or a part of it."""
        lines = _read_lines(self.path) if self.directory.list_segments() else []
        end = find_end(self.path, self.chance.choice([len(lines), self.chance.randrange(99)]))
        self.directory.state.unlink(missing_ok=True)
        if end is not None and self.chance.random() < 0.8:
            number = self.directory.list_segments()[-1]
            size = self.directory.segment_path(number).stat().st_size
            file = StateFile(self.directory.state)
            file.write(State(end[0], number, self.chance.choice([size, size // 2]), end[1]))
            file.close()

    def take_a_file_of_another_session(self) -> None:
        """Segment, state or seal."""
        files = sorted(path for path in (self.root / "bob").rglob("*") if path.is_file())
        self._copy_in(self.chance.choice(files), self.root / "bob")

    def take_a_file_of_yesterday(self) -> None:
        """One that was there once."""
        old = self.root / "yesterday" / "ann"
        self._copy_in(self.chance.choice([p for p in old.rglob("*") if p.is_file()]), old)

    def _copy_in(self, path: Path, base: Path) -> None:
        target = self.path / path.relative_to(base)
        target.parent.mkdir(exist_ok=True)
        shutil.copy(path, target)

    def take_the_folder_of_another_session(self) -> None:
        """All of it."""
        shutil.rmtree(self.path)
        shutil.copytree(self.root / "bob", self.path)

    def take_the_folder_of_yesterday(self) -> None:
        """All of it."""
        shutil.rmtree(self.path)
        shutil.copytree(self.root / "yesterday" / "ann", self.path)

    def rename_segments(self) -> None:
        """Numbers are moved, up or down, or two of them swapped."""
        numbers, by = self.directory.list_segments(), self.chance.choice([-1, 1, 2])
        for number in numbers[::-1] if by > 0 else numbers:
            if number + by >= 0:
                self.directory.segment_path(number).rename(self.directory.segment_path(number + by))

    def edit_a_record(self) -> None:
        """A record says something else, and everything after it is chained anew."""
        numbers = self.directory.list_segments()
        if not numbers:
            return
        path = self.directory.segment_path(self.chance.choice(numbers))
        lines = path.read_bytes().splitlines(keepends=True)
        at = self.chance.randrange(max(1, len(lines)))
        path.write_bytes(b"".join([*lines[:at], *rechain(lines[at:])]))

    def swap_seals(self) -> None:
        """One seal in the place of another."""
        seals = sorted((self.path / "sealed").glob("*")) if (self.path / "sealed").is_dir() else []
        if len(seals) > 1:
            one, other = self.chance.sample(seals, 2)
            shutil.copy(one, other)

    def plant_a_mark(self) -> None:
        """As if a writer had given up, or none had."""
        if self.chance.random() < 0.5:
            self.directory.failed.write_text("forged")
        else:
            self.directory.failed.unlink(missing_ok=True)


WAYS: tuple[Callable[[Attacker], None], ...] = (
    Attacker.delete_files,
    Attacker.delete_first_segments,
    Attacker.delete_last_segments,
    Attacker.truncate_at_a_line,
    Attacker.flip_a_byte,
    Attacker.forge_records,
    Attacker.begin_a_segment,
    Attacker.write_the_state_anew,
    Attacker.take_a_file_of_another_session,
    Attacker.take_a_file_of_yesterday,
    Attacker.take_the_folder_of_another_session,
    Attacker.take_the_folder_of_yesterday,
    Attacker.rename_segments,
    Attacker.edit_a_record,
    Attacker.swap_seals,
    Attacker.plant_a_mark,
)


def find_end(path: Path, count: int | None = None) -> tuple[str, Head] | None:
    """The log id and the head after the lines that are there, however they came to be there."""
    records = [(line, parse_or_none(line)) for line in _read_lines(path)[:count]]
    known = [(line, record) for line, record in records if record is not None]
    if not known:
        return None
    first = known[0][1]["body"].get("previous") or {"frontier": []}
    try:
        tree = Tree(known[0][1]["seq"], [bytes.fromhex(node) for node in first["frontier"]])
    except (ValueError, TypeError, KeyError):
        return None
    for line, _ in known:
        tree.push(hash_leaf(line[:-1]))
    last = known[-1][1]
    return last["log"], Head(tree.size, last["hash"], tree.frontier)


def rechain(lines: Sequence[bytes]) -> list[bytes]:
    """The same records with another mark and right hashes."""
    before = parse_or_none(lines[0]) if lines else None
    if before is None:
        return list(lines)
    filler = tuple(bytes(32) for _ in range(before["seq"].bit_count()))
    chain = Chain(before["log"], Head(before["seq"], before["prev"], filler))
    changed = []
    for record in filter(None, map(parse_or_none, lines)):
        source = encode_source(record["type"], record["session"], record["turn"], None, None, None)
        body = {**record["body"], "mark": "edited"} if "mark" in record["body"] else record["body"]
        changed.append(chain.extend(source, encode_body(body)))
    return changed


# What may be said then


def find_lies(report: Report, scene: Scene, path: Path) -> list[str]:
    """What the report claims about `ann` and did not happen."""
    if report.verdict == "tampered" or (report.finding and report.finding.kind == "wrong log"):
        return []
    truth, position = scene.lines["ann"], max(report.proven_to or 0, report.signed_to or 0)
    there = {r["seq"]: line for line in _read_lines(path) if (r := parse_or_none(line))}
    wrong = [n for n in range(report.first, position) if there.get(n) != truth[n]]
    lies = [f"{report.verdict}: record {wrong[0]} is not the one of ann"] if wrong else []
    if report.verdict == "proven":
        if report.first > scene.first["ann"]:
            lies.append(f"proven from {report.first}, nobody removed what was before")
        if report.name != "ann":
            lies.append(f"proven to be the trail of {report.name}")
    # The record that holds the proven checkpoint may count as proven with it.
    if position and report.size - position - report.unproven not in (0, 1):
        lies.append(f"{report.unproven} are said to be unproven of {report.size}, {position} are")
    return lies


def judge(scene: Scene, path: Path) -> list[str]:
    """All that a verifier could be asked, and what is wrong with its answers."""
    lies: list[str] = []
    log = parse_record(scene.lines["ann"][-1])["log"]
    own = [note for note in scene.notes if note.checkpoint.log == log]
    proofs: list[list[Note]] = [scene.notes, own, own, [], []]
    ways = zip(proofs, (VERIFIER, VERIFIER, None, VERIFIER, None), strict=True)
    for anchors, key in ways:
        for session in ("ann", None):
            try:
                report = verify(path, anchors=anchors, key=key, session=session)
            except NotALog:
                continue
            if report.verdict == "proven" and not anchors:
                lies.append("proven without an anchor")
            # Without being told whose it is, and with a key only, any signed log is a log.
            if anchors or session:
                lies += find_lies(report, scene, path)
    return lies


def try_case(scene: Scene, work: Path, chance: random.Random) -> tuple[list[str], list[str]]:
    """Attack a copy; the attacks, and what was claimed wrongly."""
    scene.copy_to(work)
    attacker = Attacker(work, chance)
    done = [attacker.attack() for _ in range(chance.choice([1, 2, 2, 3, 4]))]
    return done, judge(scene, work / "ann") if (work / "ann").is_dir() else []


def run_cases(root: Path, count: int, seed: int) -> tuple[dict[str, int], list[str]]:
    """Over trails with and without retention: how often each attack was made, and all lies."""
    chance = random.Random(seed)
    scenes = [
        make_scene(root / "kept"),
        make_scene(root / "removed", retain=2),
    ]
    counts: dict[str, int] = {}
    lies: list[str] = []
    for number in range(count):
        case = random.Random(f"{seed} {number}")
        done, wrong = try_case(chance.choice(scenes), root / "work", case)
        for name in done:
            counts[name] = counts.get(name, 0) + 1
        lies += [f"case {number}, {' + '.join(done)}: {one}" for one in wrong]
    return counts, lies


def main() -> None:
    """Print one line of JSON."""
    options = argparse.ArgumentParser()
    options.add_argument("--cases", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    memory = Path("/dev/shm")
    root = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    start = time.monotonic()
    try:
        counts, lies = run_cases(root, given.cases, given.seed)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    spent = round(time.monotonic() - start, 1)
    result = {"cases": given.cases, "counts": counts, "lies": len(lies), "seconds": spent}
    sys.stdout.write(json.dumps({**result, "problems": lies[:20]}) + "\n")


if __name__ == "__main__":
    main()
