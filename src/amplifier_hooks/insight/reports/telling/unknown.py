"""What is not known: what the trail does not have, and what this report left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from amplifier_hooks.insight.reports.model import SessionFigures
from amplifier_hooks.insight.reports.telling.document import Block, Bullets, Code, Parts
from amplifier_hooks.insight.reports.telling.words import format_count, format_times

_MOST_PLACES = 8


def tell_unknown(session: SessionFigures) -> Iterator[Block]:
    """All that a reader must not take for told."""
    yield Bullets(tuple(_list_points(session)))


def _list_points(session: SessionFigures) -> Iterator[Parts]:
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
