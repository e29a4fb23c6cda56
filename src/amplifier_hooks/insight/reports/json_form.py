"""A report as JSON, for programs; docs/reports.md describes its shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from amplifier_audit.report import report_to_dict
from amplifier_hooks.insight.reports.excerpts import BoundedList
from amplifier_hooks.insight.reports.model import (
    QUESTION_OUTCOMES,
    AgentText,
    Call,
    HookFigures,
    Intervention,
    Proof,
    Question,
    ReportFigures,
    SessionFigures,
    Spending,
    Totals,
    Turn,
)

VERSION = 1

Json = dict[str, Any]


def to_json(report: ReportFigures) -> Json:
    """The whole report."""
    return {
        "version": VERSION,
        "contradictions": _write_kept(report.totals.contradictions, asdict),
        "made": report.made,
        "since": report.period.since or None,
        "until": report.period.until or None,
        "totals": _write_totals(report.totals),
        "sessions": [asdict(row) for row in report.rows],
        "chapters": [write_session(one) for one in report.chapters],
        "unreadable": [{"path": path, "reason": why} for path, why in report.unreadable],
        "empty": report.empty,
    }


def _write_totals(totals: Totals) -> Json:
    return {
        "sessions": totals.sessions,
        "records": totals.records,
        "first": totals.first or None,
        "last": totals.last or None,
        "turns": totals.turns,
        "calls": _drop_zeros(totals.calls),
        "tools": dict(totals.tools),
        "questions": {name: totals.questions[name] for name in QUESTION_OUTCOMES},
        "waited_seconds": round(totals.waited, 3),
        "interventions": dict(totals.interventions),
        "verdicts": dict(totals.verdicts),
        "folders": dict(totals.folders),
        "hooks": _write_hooks(totals.hooks),
        "days": {date: asdict(day) for date, day in sorted(totals.days.items())},
        "spending": _write_spending(totals.spending),
    }


def write_session(session: SessionFigures) -> Json:
    """One session."""
    header = session.header
    questions = session.questions
    return {
        "id": session.id,
        "name": session.name or None,
        "trail": str(header.path),
        "folder": header.folder or None,
        "bundle": {
            "name": header.bundle or None,
            "file": header.bundle_file or None,
            "digest": header.bundle_digest or None,
        },
        "level": header.level,
        "values": header.values,
        "shadow": header.shadow,
        "first": session.first or None,
        "last": session.last or None,
        "ending": session.ending or None,
        "resumed": session.resumed,
        "records": session.records,
        "turns": _write_kept(session.turns, _write_turn),
        "calls": _drop_zeros(session.calls),
        "tools": dict(session.tools),
        "agents": dict(session.agents),
        "files": {"written": dict(session.written), "read": dict(session.read)},
        "hooks": _write_hooks(session.hooks),
        "interventions": {
            kind: _write_kept(kept, _write_intervention)
            for kind, kept in session.interventions.items()
        },
        "contradictions": _write_kept(session.contradictions, asdict),
        "errors": _write_kept(session.errors, _write_intervention),
        "questions": {
            **{name: getattr(questions, name) for name in QUESTION_OUTCOMES},
            "waited_seconds": round(questions.waited, 3),
            **_write_kept(questions.kept, _write_question),
        },
        "spending": _write_spending(session.spending),
        "proof": _write_proof(session.proof),
        "missing": [
            {"reason": why, "place": place, "count": count}
            for (why, place), count in session.gaps.missing.items()
        ],
        "masked": dict(session.gaps.masked),
    }


def _write_kept(kept: BoundedList[Any], write: Any) -> Json:
    return {"count": kept.count, "left_out": kept.left_out, "kept": [write(one) for one in kept]}


def _write_turn(turn: Turn) -> Json:
    return {
        "session": turn.session,
        "number": turn.number,
        "agent": turn.agent or None,
        "started": turn.started,
        "ended": turn.ended or None,
        "status": turn.status or None,
        "prompt": asdict(turn.prompt),
        "answer": asdict(turn.answer),
        "tokens": turn.tokens,
        "money": turn.money,
        "calls": turn.calls,
        "steps": _write_kept(turn.steps, _write_step),
    }


def _write_step(step: Call | AgentText) -> Json:
    if isinstance(step, AgentText):
        return {"kind": "said", "time": step.time, "text": asdict(step.text)}
    return {
        "kind": "call",
        "time": step.time,
        "tool": step.tool,
        "id": step.id,
        "about": step.about,
        "input": asdict(step.input),
        "outcome": step.outcome,
        "by": step.by or None,
        "reason": step.reason or None,
        "result": asdict(step.result),
        "ms": step.ms,
        "gated": step.gated,
        "contradicted": step.contradicted,
        "changed": step.changed,
    }


def _write_intervention(one: Intervention) -> Json:
    return asdict(one)


def _write_question(one: Question) -> Json:
    return asdict(one)


def _write_hooks(hooks: Mapping[str, HookFigures]) -> Json:
    return {
        name: {
            **hook.counts.to_dict(),
            "events": sorted(hook.events),
            "guard": hook.guard,
            "shadow": hook.shadow,
            "module": hook.module or None,
        }
        for name, hook in hooks.items()
    }


def _write_spending(spending: Spending) -> Json:
    return {
        "currency": "USD",
        "total": asdict(spending.total),
        "models": {name: asdict(spent) for name, spent in spending.models.items()},
    }


def _write_proof(proof: Proof) -> Json:
    report = proof.report
    return {
        "verdict": proof.verdict,
        "problem": proof.problem or None,
        "anchors": [*proof.evidence.anchors],
        "key": proof.evidence.key_text or None,
        "witnesses": [one.url for one in proof.evidence.witnesses],
        "named_by": proof.evidence.bundle or None,
        "head": None if report is None or report.head is None else report.head.hash,
        "report": None if report is None else report_to_dict(report),
    }


def _drop_zeros(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}
