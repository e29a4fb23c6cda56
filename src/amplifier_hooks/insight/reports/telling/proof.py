"""What the trail proves, in words, and how to check it oneself."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from amplifier_audit import Report
from amplifier_hooks.insight.reports.excerpts import cut_text
from amplifier_hooks.insight.reports.model import Proof, SessionFigures
from amplifier_hooks.insight.reports.telling.document import (
    Block,
    Bullets,
    Code,
    Facts,
    Listing,
    Marked,
    Paragraph,
    Parts,
    Quoted,
    Tone,
)
from amplifier_hooks.insight.reports.telling.words import format_count, join_words

TONES: dict[str, Tone] = {
    "proven": "good",
    "consistent": "note",
    "recovered": "warn",
    "tampered": "bad",
    "unreadable": "bad",
}
_TITLES = {
    "proven": "The trail is proven.",
    "consistent": "The trail is consistent, not proven.",
    "recovered": "The trail was recovered after a crash.",
    "tampered": "The trail was tampered with; do not rely on this report.",
    "unreadable": "The trail could not be verified.",
}
_MEANINGS = {
    "proven": (
        " Its records were checked against what was kept elsewhere, and none was changed, "
        "removed or added in between."
    ),
    "consistent": (
        " Its records agree with one another. Whether some are missing at the end, or all of "
        "them were replaced, only a checkpoint that was kept elsewhere can show."
    ),
    "recovered": (
        " Its writer stopped in the middle of a record and went on later, or somebody made it "
        "look like that. What was being written at that moment is lost."
    ),
    "tampered": " This is not what its writer wrote.",
    "unreadable": "",
}


def describe_verdict(proof: Proof) -> Parts:
    """The verdict in a sentence or two."""
    verdict, meaning = proof.verdict, _MEANINGS[proof.verdict]
    if verdict == "consistent" and proof.report and proof.report.proven_to is not None:
        meaning = " Not everything that should prove it did: see the notes below."
    problem: Parts = (" ", Quoted(proof.problem)) if proof.problem else ()
    return (Marked(_TITLES[verdict], TONES[verdict]), meaning, *problem)


def tell_proof(session: SessionFigures) -> Iterator[Block]:
    """The verdict, what it rests on, and the command that checks it."""
    proof = session.proof
    yield Paragraph(describe_verdict(proof), TONES[proof.verdict])
    if proof.report is not None:
        yield Bullets(tuple(_list_points(proof.report, session)))
        yield Facts(tuple(_list_facts(proof.report, session)))
    yield Listing("To check it yourself", cut_text(_make_commands(proof, session)))


def _list_points(report: Report, session: SessionFigures) -> Iterator[Parts]:
    if finding := report.finding:
        place = f" ({finding.segment}, byte {finding.byte:,})" if finding.segment else ""
        yield (
            Marked("Where: ", "bad"),
            f"{finding.kind} at record {finding.sequence:,}{place}: ",
            Quoted(finding.message),
        )
    yield (_describe_anchor(report, session.proof),)
    yield (_describe_signature(report, session),)
    if report.unproven and (report.proven_to is not None or report.signed_to is not None):
        verb = "is" if report.unproven == 1 else "are"
        yield (f"The last {format_count(report.unproven, 'record')} {verb} not proven.",)
    if report.first:
        yield (f"The first {format_count(report.first, 'record')} were removed, as recorded.",)
    if report.recoveries:
        places = join_words([f"{one:,}" for one in report.recoveries[:10]])
        yield (f"The trail was recovered after a crash at record {places}.",)
    if report.failed is not None:
        yield ("Its writer gave up, and later events are not recorded: ", Quoted(report.failed))
    yield from (("Note: ", Quoted(note)) for note in report.notes)


def _describe_anchor(report: Report, proof: Proof) -> str:
    if report.proven_to is not None:
        return (
            f"The first {format_count(report.proven_to, 'record')} agree with a checkpoint "
            "that was kept outside of the trail."
        )
    if proof.evidence.anchors or proof.evidence.witnesses:
        return "No checkpoint that was kept elsewhere and could be read covers this trail."
    return "Not anchored, as far as this report knows: it was given no checkpoint kept elsewhere."


def _describe_signature(report: Report, session: SessionFigures) -> str:
    if report.signed_to is not None:
        return f"The first {format_count(report.signed_to, 'record')} are signed with the key."
    if session.key:
        return (
            "The trail is signed, but the signatures were not checked: this report had no "
            "public key."
        )
    return "The trail is not signed."


def _list_facts(report: Report, session: SessionFigures) -> Iterator[tuple[str, Parts]]:
    yield "Records", (f"{report.size - report.first:,}",)
    yield "Checkpoints in it", (f"{report.checkpoints:,}",)
    if report.log:
        yield "Log", (Code(report.log),)
    if report.head is not None:
        yield "Digest of the last record", (Code(report.head.hash),)
        yield "Root over all records", (Code(report.head.compute_root().hex()),)
    if session.key:
        yield "Key that the trail names", (Code(session.key),)
    if session.header.bundle_digest:
        yield "Digest of the bundle", (Code(session.header.bundle_digest),)


def _make_commands(proof: Proof, session: SessionFigures) -> str:
    options: list[str] = []
    if proof.evidence.key_text:
        options += ["--key", proof.evidence.key_text]
    for anchor in proof.evidence.anchors:
        options += ["--anchor", anchor]
    for witness in proof.evidence.witnesses:
        options += ["--witness", witness.url]
    return "\n".join(
        shlex.join([*command, "verify", proof.path, *options])
        for command in (("amplifier", "audit"), ("python", "-m", "amplifier_audit"))
    )
