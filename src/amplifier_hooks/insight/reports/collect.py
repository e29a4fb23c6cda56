"""Reads trails, one after another, into the figures of one report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from amplifier_audit import AuditError
from amplifier_audit.log_directory import open_readable
from amplifier_audit.quick_lines import Shapes
from amplifier_core.records import (
    AnswerIgnored,
    AnswerShadowed,
    DigestMismatch,
    HookAnswer,
    InjectionAccepted,
    InjectionDropped,
    InjectionUnused,
    UserMessage,
    plain,
)
from amplifier_hooks.agent.session.inspection.evidence import Evidence, EvidenceFinder
from amplifier_hooks.agent.session.inspection.trails import list_names_beside, list_roots
from amplifier_hooks.agent.session.saved_sessions import SessionStore
from amplifier_hooks.insight.counting import Recount
from amplifier_hooks.insight.reports.actions import HEARD, ActionCollector
from amplifier_hooks.insight.reports.excerpts import SHORT, PendingItems, format_value, summarize
from amplifier_hooks.insight.reports.model import (
    MOST_OPEN,
    REASON_LENGTH,
    Day,
    Field,
    Intervention,
    Kind,
    Period,
    ReportFigures,
    SessionFigures,
    check_trail,
    list_fields,
)
from amplifier_hooks.trails import (
    Item,
    Note,
    RecordedApproval,
    RecordedCall,
    RecordedEvent,
    RecordedHook,
    read_items,
)
from amplifier_hooks.trails.quiet import QuietEvent
from amplifier_hooks.trails.reading import holds_for_all, read_entries, split_header

KERNEL = "(the kernel)"


class InterventionCollector:
    """Keeps each time that a hook mattered."""

    def __init__(self, figures: SessionFigures) -> None:
        self._figures = figures
        self._shadows: PendingItems[tuple[str, str], Intervention] = PendingItems(MOST_OPEN)

    def add_event(self, item: RecordedEvent, day: Day) -> None:
        """Take the answers to an event."""
        self._figures.gaps.add_event(item)
        for answer in item.answers:
            if answer.action != "continue" or answer.error is not None or answer.shadowed:
                self._judge(item, answer, day)

    def _judge(self, item: RecordedEvent, answer: HookAnswer, day: Day) -> None:
        if answer.shadowed:
            self._add_withheld(item, answer)
        elif answer.unheeded:
            return
        if answer.error is not None:
            self._add("failure", item, answer, str(answer.error))
        if answer.action == "deny":
            self._add("denial", item, answer, plain(answer.reason) or item.reason)
            self._figures.denying.add(item.time, item.time)
            day.denied += 1
        elif answer.action == "modify" and not item.again:
            self._add(
                "change", item, answer, plain(answer.reason), list_fields(item.data, item.left)
            )
            day.changed += 1

    def _add_withheld(self, item: RecordedEvent, answer: HookAnswer) -> None:
        """Keep what shadow mode withheld until the record comes that says it in words."""
        key = (item.session, answer.hook)
        if (before := self._shadows.pop(key, None)) is not None:
            self._figures.interventions["shadow"].add(before)
        words = f"would have answered {answer.shadowed}"
        self._shadows[key] = _describe(item, "shadow", answer, words)

    def finish(self) -> None:
        """Take what no record said in words."""
        for one in self._shadows.values():
            self._figures.interventions["shadow"].add(one)

    def _add(
        self,
        kind: Kind,
        item: RecordedEvent,
        answer: HookAnswer,
        reason: str,
        fields: tuple[Field, ...] = (),
    ) -> None:
        self._figures.interventions[kind].add(_describe(item, kind, answer, reason, fields))

    # Questions

    def add_approval(self, item: RecordedApproval, day: Day) -> None:
        """Take a step of a question."""
        self._figures.questions.add_step(item)
        day.asked += item.stage == "requested" and not item.again

    # Records of their own

    def add_note(self, item: Note, day: Day) -> None:
        """Take what only records of their own tell: injections, and answers without events."""
        match item.body:
            case HookAnswer() as answer:
                self._add_resolved(item, answer, day)
            case InjectionAccepted(text=text):
                self._note("injection", item, format_value(text))
            case InjectionDropped() | InjectionUnused() | AnswerIgnored() as body:
                self._add_without_effect(item, body)
            case AnswerShadowed(would=would):
                self._add_shadow(item, format_value(would)[:REASON_LENGTH])
            case UserMessage(text=text):
                self._note("message", item, format_value(text))
            case DigestMismatch():
                self._note("denial", item, "what would have run is not what was approved")
                day.denied += 1

    def _add_without_effect(
        self, item: Note, body: InjectionDropped | InjectionUnused | AnswerIgnored
    ) -> None:
        """What a hook said that reached nobody, or that nothing obeyed."""
        why = format_value(body.why)
        if isinstance(body, AnswerIgnored):
            self._note("failure", item, f"{body.action} had no effect: {why}")
        elif isinstance(body, InjectionDropped):
            self._note("failure", item, f"its text was not taken: {why}")
        elif body.fault:
            self._note("failure", item, f"its text was lost: {why}")

    def _add_resolved(self, item: Note, answer: HookAnswer, day: Day) -> None:
        """An answer in a trail that has decisions alone."""
        event = RecordedEvent(
            sequence=item.sequence,
            time=item.time,
            session=item.session,
            turn=item.turn,
            event=item.event,
            data={},
            left={},
        )
        self._judge(event, answer, day)

    def _add_shadow(self, item: Note, words: str) -> None:
        known = self._shadows.pop((item.session, item.hook), None)
        if known is None:
            self._note("shadow", item, words)
        else:
            self._figures.interventions["shadow"].add(replace(known, reason=words))

    def _note(self, kind: Kind, item: Note, text: str) -> None:
        about = Intervention(
            kind, item.time, item.turn, item.hook or KERNEL, item.event, reason=text[:REASON_LENGTH]
        )
        self._figures.interventions[kind].add(about)


def _describe(
    item: RecordedEvent,
    kind: Kind,
    answer: HookAnswer,
    reason: str,
    fields: tuple[Field, ...] = (),
) -> Intervention:
    return Intervention(
        kind,
        item.time,
        item.turn,
        answer.hook,
        item.event,
        _describe_subject(item.event, item.data),
        reason[:REASON_LENGTH],
        fields,
        answer.timed_out is True,
    )


def _describe_subject(event: str, data: Mapping[str, Any]) -> str:
    """What an event was about, in one line."""
    if "tool_name" in data:
        return f"{format_value(data['tool_name'])} {summarize(data.get('tool_input'))}"[
            :SHORT
        ].strip()
    found = data.get("prompt") or data.get("path") or data.get("model") or ""
    return summarize({"task": found})


def collect_items(figures: SessionFigures, items: Iterable[Item], period: Period) -> None:
    """Fill in the figures of a session."""
    actions = ActionCollector(figures)
    judgements = InterventionCollector(figures)
    counters = Recount()
    for item in items:
        if isinstance(item, RecordedHook):
            figures.hooks.group(item.name).register(item)
            counters.take(item)
            continue
        if holds_for_all(item) or period.holds(item.counted_at):
            counters.take(item)
        if not period.holds(item.counted_at):
            actions.note_agents(item)
            continue
        if period.holds(item.time) and not _is_derived(item):
            _count(item, figures)
        _add_item(item, actions, judgements, figures.days.group(item.time[:10]))
    actions.finish()
    judgements.finish()
    _add_counts(figures, counters)


def _is_derived(item: Item) -> bool:
    return isinstance(item, RecordedApproval) and item.derived


def _count(
    item: RecordedEvent | RecordedApproval | RecordedCall | Note | QuietEvent,
    figures: SessionFigures,
) -> None:
    time = item.time
    figures.records += 1
    figures.first = figures.first or time
    figures.last = time
    figures.days.group(time[:10]).sessions = 1


def _add_counts(figures: SessionFigures, counters: Recount) -> None:
    counters.end_trail()
    for name, counts in counters.hooks.items():
        figures.hooks.group(name).counts.add(counts)
    figures.unsure = bool(counters.unsure)


def _add_item(
    item: Item, actions: ActionCollector, judgements: InterventionCollector, day: Day
) -> None:
    match item:
        case RecordedEvent():
            judgements.add_event(item, day)
            actions.add_event(item, day)
        case RecordedApproval():
            judgements.add_approval(item, day)
            actions.add_approval(item)
        case RecordedCall():
            actions.add_call(item, day)
        case Note():
            judgements.add_note(item, day)
            actions.add_note(item)


CHAPTERS = 20


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """What a report is to be about."""

    trails: Sequence[Path]
    period: Period = field(default_factory=Period)
    evidence: Evidence | None = None
    """What a person gives to verify them with; None for what their bundles name."""
    chapters: int = CHAPTERS
    finder: EvidenceFinder = field(default_factory=EvidenceFinder)
    shapes: Shapes = field(default_factory=Shapes)


Progress = Callable[[int], None]


def read_report(
    wanted: ReportRequest, *, made: str | None = None, progress: Progress | None = None
) -> ReportFigures:
    """Read and verify all trails; `progress` is told how many bytes are done."""
    when = made or datetime.now(UTC).isoformat(timespec="seconds")
    report = ReportFigures(
        when,
        wanted.period,
        chapter_limit=wanted.chapters,
        names_beside=frozenset(list_names_beside(wanted.trails)),
    )
    roots = [root.resolve() for root in list_roots(untrusted=True)]
    names = {one.id: one.name or "" for one in SessionStore().list()}
    done = 0
    for path in wanted.trails:
        session = _try_to_read(report, path, wanted, roots, _shift(progress, done))
        if session is not None:
            session.name = names.get(session.id, "")
            report.add(session)
        done += measure_trail(path)
    return report


def _shift(progress: Progress | None, done: int) -> Progress | None:
    return None if progress is None else lambda more: progress(done + more)


def measure_trail(path: Path) -> int:
    """The bytes of a trail; none if it cannot be read."""
    files = path.glob("*.jsonl") if path.is_dir() else (path,)
    try:
        return sum(one.stat().st_size for one in files)
    except OSError:
        return 0


def _try_to_read(
    report: ReportFigures,
    path: Path,
    wanted: ReportRequest,
    roots: list[Path],
    progress: Progress | None,
) -> SessionFigures | None:
    """The session of a trail; the report notes a trail that has nothing for it."""
    try:
        if not _is_older(path, wanted.period):
            session = read_session(path, wanted, find_owner(path, roots), progress)
            if session.records or not wanted.period:
                return session
        report.empty += 1
    except (AuditError, OSError) as error:
        report.unreadable.append((str(path), str(error)))
    return None


def _is_older(path: Path, period: Period) -> bool:
    """Whether nothing was written to a trail since the period began."""
    state = path / "state"
    if not period.since or not state.exists():
        return False
    # A second more, because clocks of files are coarse.
    written = datetime.fromtimestamp(state.stat().st_mtime + 1, UTC)
    return written.isoformat() < period.since


def read_session(
    path: Path, wanted: ReportRequest, owner: str | None = None, progress: Progress | None = None
) -> SessionFigures:
    """Read one trail, and verify it."""
    evidence = wanted.evidence if wanted.evidence is not None else wanted.finder.find(path)
    proof = check_trail(path, evidence, owner=owner, progress=progress, shapes=wanted.shapes)
    entries = read_entries(open_readable(path), HEARD, with_gaps=False)
    header, items = split_header(path, read_items(entries))
    session = SessionFigures(header, proof)
    collect_items(session, filter_verified(items, session), wanted.period)
    return session


def filter_verified(items: Iterable[Item], session: SessionFigures) -> Iterator[Item]:
    """The records that the verification read, each once; what was added since is left out.

    Of a trail that was tampered with everything is told: its readers are warned.
    """
    report = session.proof.report
    end = None if report is None or report.verdict == "tampered" else report.size
    last = -1
    for item in items:
        if isinstance(item, RecordedHook) or end is None:
            yield item
        elif isinstance(item, RecordedApproval) and item.derived:  # the other is counted by itself
            if item.sequence < end:
                yield item
        elif last < item.sequence < end:
            last = item.sequence
            yield item
        else:
            session.gaps.unverified += 1


def find_owner(path: Path, roots: list[Path]) -> str | None:
    """Whose trail a folder must hold, if it is one of those that sessions write to."""
    resolved = path.resolve()
    return resolved.name if resolved.parent in roots else None
