"""Proof: what the trail shows for certain, and what is not known."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator

from amplifier_audit import Report
from amplifier_hooks.insight.reports.document import (
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
    format_count,
    format_times,
    join_words,
)
from amplifier_hooks.insight.reports.excerpts import cut_text
from amplifier_hooks.insight.reports.model import Proof, SessionFigures

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
    verdict = proof.verdict
    meaning = _MEANINGS[proof.verdict]
    if verdict == "consistent" and proof.report and proof.report.proven_to is not None:
        meaning = " Not everything that should prove it did: see the notes below."
    problem: Parts = (" ", Quoted(proof.problem)) if proof.problem else ()
    return (Marked(_TITLES[verdict], TONES[verdict]), meaning, *problem)


def describe_proof(session: SessionFigures) -> Iterator[Block]:
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


_MOST_PLACES = 8


def describe_unknown(session: SessionFigures) -> Iterator[Block]:
    """All that a reader must not take for told."""
    yield Bullets(tuple(_list_unknown(session)))


def _list_unknown(session: SessionFigures) -> Iterator[Parts]:
    yield ("Who started the session: a trail names those who decide, and nobody else.",)
    if session.header.level == "decisions":
        yield (
            "What was said, what tools were given and what they returned: this trail has "
            "decisions alone (audit.level: decisions).",
        )
    if session.header.values == "committed":
        yield (
            "The trail holds commitments instead of values. Those that are still kept beside it "
            "are shown here; the others are not known.",
        )
    yield from _list_missing(session)
    yield from _list_masked(session)
    if unknown := session.calls["unknown"] + session.calls["running"]:
        calls = format_count(unknown, "call")
        yield (f"How {calls} ended, or whether they ran at all: the trail has no result.",)
    if handed := session.questions.not_known:
        words = format_count(handed, "question")
        yield (f"What people said to {words} handed over to the prompt of another program.",)
    if session.questions.open > 0:
        yield (f"What became of {format_count(session.questions.open, 'question')}.",)
    if left_out := session.gaps.unverified:
        yield (
            f"{format_count(left_out, 'record')} behind the end that was verified: left out here. "
            "The session may have written them since, or somebody else.",
        )
    yield (
        "Long texts are cut here. The trail has more of them: ",
        Code(f"amplifier audit show {session.id}"),
        ".",
    )


def _list_missing(session: SessionFigures) -> Iterator[Parts]:
    reasons: dict[str, Counter[str]] = {}
    for (why, place), count in session.gaps.missing.items():
        reasons.setdefault(why, Counter())[place] += count
    for why, places in reasons.items():
        words = format_count(places.total(), "value")
        verb = "is" if places.total() == 1 else "are"
        yield (f"{words} {verb} not in the trail ({why}): ", *_list_places(places), ".")


def _list_masked(session: SessionFigures) -> Iterator[Parts]:
    masked = session.gaps.masked
    if masked:
        times = format_times(masked.total())
        yield (f"Secrets were masked {times}, in ", *_list_places(masked), ".")


def _list_places(places: Counter[str]) -> Parts:
    parts: list[Code | str] = []
    for place, _ in places.most_common(_MOST_PLACES):
        parts += [", " if parts else "", Code(place)]
    rest = len(places) - _MOST_PLACES
    return (*parts, f" and {format_count(rest, 'other place')}") if rest > 0 else tuple(parts)
