"""Evidence to verify a trail against: given by a person, or named by the trail's bundle.

A bundle that nobody trusts decides nothing: neither what a trail is verified against, nor whom we
ask. What a trusted one names may have been named after a trail was written, or may be out of reach.
Then the trail is not proven, whatever the rest says, and the notes tell why: somebody may have seen
to it. That it was tampered with is said only of a trail that contradicts the evidence.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from amplifier_audit import AuditError, LogFiles, Note, Report, load_verifier
from amplifier_audit.anchor_files import find_log_id, read_anchors, read_checkpoints
from amplifier_audit.checkpoint import SignatureVerifier
from amplifier_audit.errors import BadKey, WitnessUnavailable
from amplifier_audit.quick_lines import Shapes
from amplifier_audit.state import State
from amplifier_audit.verification import LogVerification
from amplifier_audit.witness import Witness, read_witnesses
from amplifier_core.errors import AmplifierError
from amplifier_hooks.agent.bundles import BundleError, load_bundle
from amplifier_hooks.agent.session.inspection.trails import Trail, find_trail_origin
from amplifier_hooks.agent.session.origin import Origin
from amplifier_hooks.agent.session.trail import find_key
from amplifier_hooks.agent.trust.material import collect_material
from amplifier_hooks.agent.trust.store import TrustStore, is_trusted_by_name

TOKEN = "AMPLIFIER_TOKEN"

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What there is beside a trail: files of checkpoints, witnesses, and the public key."""

    anchors: tuple[str, ...] = ()
    key: SignatureVerifier | None = None
    key_text: str = ""
    """The key as it was given, for the command that checks all this again."""
    witnesses: tuple[Witness, ...] = ()
    bundle: str = ""
    """The bundle that names all this; empty if a person has given it."""
    notes: tuple[str, ...] = ()
    """What the bundle names and could not be used, and why."""
    silent: dict[str, str] = field(default_factory=dict)
    """Witnesses that did not answer, with the reason: they are not asked again."""

    def __bool__(self) -> bool:
        return bool(self.anchors or self.key or self.witnesses)


def give_evidence(
    key: str | None, anchors: tuple[str, ...], witnesses: tuple[str, ...]
) -> Evidence:
    """What a person names; the token of witnesses comes from the environment."""
    token = os.environ.get(TOKEN, "")
    return Evidence(
        anchors,
        load_verifier(key) if key else None,
        key or "",
        tuple(Witness(url, token) for url in witnesses),
    )


class EvidenceFinder:
    """Finds what the bundles of trails name, each bundle once."""

    def __init__(self) -> None:
        self._known: dict[Origin, Evidence] = {}
        self._silent: dict[str, str] = {}

    def find(self, trail: Path) -> Evidence:
        """What the bundle of a trail names; a trail that does not say which has none."""
        origin = find_trail_origin(Trail(trail, 0.0))
        if origin is None or not origin.file:
            return Evidence()
        if origin not in self._known:
            self._known[origin] = replace(_read_bundle(origin), silent=self._silent)
        return self._known[origin]


def _read_bundle(origin: Origin) -> Evidence:
    file = Path(origin.file)
    folder = Path(origin.folder)
    try:
        bundle = load_bundle(file, project_dir=folder)
        section = bundle.mount_plan["audit"]
        if not any(section.get(name) for name in ("sign", "anchors", "witness")):
            return Evidence()
        material = collect_material(bundle, folder)
        if not is_trusted_by_name(material, file, TrustStore()):
            return Evidence(notes=(_explain_distrust(origin),))
        return _read_section(section, origin)
    except (BundleError, AmplifierError, OSError) as error:
        return Evidence(notes=(f"the bundle {file} cannot be used: {error}",))


def _explain_distrust(origin: Origin) -> str:
    return (
        f"{origin.file} names a key, anchors or a witness, but in {origin.folder} it is not "
        "trusted as it is now, so none of them was used; amplifier trust allows it there, or give "
        "--key, --anchor or --witness"
    )


def _read_section(section: Mapping[str, Any], origin: Origin) -> Evidence:
    notes: list[str] = []
    key = None
    path = find_key(section.get("sign"))
    try:
        key = None if path is None else load_verifier(path)
    except BadKey as error:
        notes.append(f"the key that {origin.file} names was not used: {error}")
    anchors = (Path(one).expanduser() for one in section.get("anchors") or ())
    witnesses: tuple[Witness, ...] = ()
    if url := section.get("witness"):
        token = section.get("witness_token") or os.environ.get(TOKEN, "")
        witnesses = (Witness(str(url), str(token)),)
    return Evidence(
        tuple(str(Path(origin.folder) / one) for one in anchors),
        key,
        str(path) if key else "",
        witnesses,
        origin.file,
        tuple(notes),
    )


@dataclass(slots=True)
class Check:
    """One trail, and what it is verified against; `owner` is the session that it must be of."""

    files: LogFiles
    evidence: Evidence
    owner: str | None = None
    since: State | None = None
    jobs: int = 1
    progress: Progress | None = None
    shapes: Shapes = field(default_factory=Shapes)
    """What lines look like that were right: who checks many trails gives them the same."""
    end: State | None = None
    """The position that was verified, for a later run."""
    _told: list[str] = field(default_factory=list)

    def run(self) -> Report:
        """Verify it; what a bundle names and does not cover it is told in the notes."""
        self._told = list(self.evidence.notes)
        report = self._verify_named() if self.evidence.bundle else self._verify_given()
        return replace(report, notes=(*report.notes, *self._told))

    def _verify_given(self) -> Report:
        given = self.evidence
        anchors = read_anchors(given.anchors, self.files, self.owner)
        anchors += read_witnesses(given.witnesses, self.files, self.owner)
        return self._verify(anchors, given.key)

    def _verify_named(self) -> Report:
        bundle = self.evidence.bundle
        anchors = [note for found in self._read_named() for note in found]
        report = self._verify(anchors, self.evidence.key)
        if _is_unsigned(report):
            why = report.finding.message if report.finding else ""
            self._told.append(
                f"{why}: the key that {bundle} names was not used; it was named after this trail "
                "was begun, or the trail was replaced"
            )
            report = self._verify(anchors, None)
        if self._told and report.verdict == "proven":
            report = replace(report, verdict="consistent")
        self._told.append(f"verified with what {bundle} names")
        return report

    def _verify(self, anchors: list[Note], key: SignatureVerifier | None) -> Report:
        run = LogVerification(
            self.files, anchors, key, self.since, self.progress, self.owner, self.jobs, self.shapes
        )
        report = run.run()
        self.end = run.end
        return report

    def _read_named(self) -> Iterator[list[Note]]:
        for path in self.evidence.anchors:
            try:
                yield self._select(read_checkpoints(path), path)
            except (AuditError, OSError) as error:
                self._told.append(f"an anchor that the bundle names was not used: {error}")
        for witness in self.evidence.witnesses:
            if witness.url not in self.evidence.silent:
                try:
                    yield self._select(self._ask(witness), witness.url)
                    continue
                except WitnessUnavailable as error:
                    self.evidence.silent[witness.url] = str(error)
            why = self.evidence.silent[witness.url]
            self._told.append(f"the witness that the bundle names was not used: {why}")

    def _ask(self, witness: Witness) -> list[Note]:
        return witness.read_all(find_log_id(self.files) or "", self.owner or self.files.name)

    def _select(self, notes: list[Note], where: str) -> list[Note]:
        """Those that speak of this log, or of one with its name that it may have replaced."""
        own = find_log_id(self.files)
        names = {self.owner, self.files.name} - {None}
        about = [n for n in notes if n.checkpoint.log == own or n.checkpoint.name in names]
        if not about:
            self._told.append(
                f"{where} has no checkpoint of this log: it was named after this trail was begun, "
                "or the trail was replaced"
            )
        return about


def _is_unsigned(report: Report) -> bool:
    """Whether the key has signed nothing at all of it: it may be older than the key."""
    finding = report.finding
    return finding is not None and finding.kind in ("signature", "unsigned") and not report.signed
