"""Figures for Prometheus: each line in its format, whatever hooks are called."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.approvals.stores.statistics import HookFigures
from amplifier_hooks.server.routes.statistics import OTHERS, write_metrics

NOBODY = HookFigures(0, "", "", "")
STATES = {"approvals": {"pending": 2, "approved": 1}, "sessions": {"running": 3}}

_PAIR = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
_SAMPLE = re.compile(r"([a-z_]+)(?:\{(.*)\})? ([0-9.e+-]+)")


def read(text: str) -> dict[tuple[str, ...], float]:
    """The samples by name and label values; anything else than the format is an error."""
    found = {}
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        if line.startswith(("# HELP ", "# METRICS_TYPE ")):
            continue
        sample = _SAMPLE.fullmatch(line)
        assert sample, line
        name, inside, value = sample.groups()
        pairs = _PAIR.findall(inside or "")
        assert _PAIR.sub("", inside or "") == ""
        labels = (re.sub(r"\\(.)", _unescape, text) for _, text in pairs)
        key = (name.removeprefix("amplifier_"), *labels)
        assert key not in found, "each series once"
        found[key] = float(value)
    return found


def _unescape(match: re.Match[str]) -> str:
    return "\n" if match[1] == "n" else match[1]


def test_what_hooks_did_is_told_by_hook_event_and_action() -> None:
    """An answer in the shadow is a continue, and told apart."""
    figures = [
        HookFigures(0, "h", "tool:pre", "continue", 5),
        HookFigures(0, "h", "tool:pre", "shadow:deny", 2, failures=1, timeouts=1),
        HookFigures(0, "h", "tool:pre", "ask_user", 3, asked=3, allowed=2, refused=1, overruled=2),
        HookFigures(0, "h", "tool:post", "inject_context", 1, injected_tokens=40),
    ]
    told = read(write_metrics(figures, NOBODY, STATES))
    assert told["hook_calls_total", "h", "tool:pre", "continue"] == 7
    assert told["hook_calls_total", "h", "tool:pre", "ask_user"] == 3
    assert told["hook_shadowed_total", "h", "tool:pre", "deny"] == 2
    assert told["hook_failures_total", "h"] == told["hook_timeouts_total", "h"] == 1
    assert told["hook_asked_total", "h"] == 3
    assert told["hook_overruled_total", "h"] == told["hook_decisions_total", "h", "allowed"] == 2
    assert told["hook_decisions_total", "h", "expired"] == 0
    assert told["hook_injected_tokens_total", "h"] == 40
    assert (told["approvals", "approved"], told["approvals_waiting",]) == (1, 2)
    assert told["sessions", "running"] == 3


def test_what_is_not_known_of_questions_is_a_gauge() -> None:
    """A result may still come, and a counter never becomes less."""
    asked = {"asked": 4, "handed_over": 3, "not_run": 1, "not_known": 1, "allowed": 1}
    figures = [
        HookFigures(0, "h", "tool:pre", "ask_user", 4, **asked),
        HookFigures(0, "h", "tool:pre", "deny", 1, contradicted=1),
    ]
    text = write_metrics(figures, NOBODY, STATES)
    told = read(text)
    assert told["hook_handed_over_total", "h"] == 3
    assert (
        told["hook_handed_over", "h", "not_run"] == told["hook_handed_over", "h", "not_known"] == 1
    )
    assert told["hook_contradicted_total", "h"] == 1
    assert "# METRICS_TYPE amplifier_hook_handed_over gauge" in text


def test_times_are_a_histogram_whose_last_bucket_has_all() -> None:
    """In seconds; figures from before times were counted are left out."""
    quick = HookFigures(0, "h", "e", "deny", 2, 4.0, timed=2, within_1=1, within_5=2, within_25=2)
    old = HookFigures(0, "old", "e", "deny", 9)
    told = read(write_metrics([quick, old], NOBODY, {}))
    name = "hook_duration_seconds"
    assert told[f"{name}_bucket", "h", "0.001"] == 1
    assert told[f"{name}_bucket", "h", "0.005"] == 2
    assert told[f"{name}_bucket", "h", "+Inf"] == told[f"{name}_count", "h"] == 2
    assert told[f"{name}_sum", "h"] == 0.004
    assert (f"{name}_count", "old") not in told


def test_what_is_not_told_apart_is_one_series() -> None:
    """So that made-up names do not fill the memory of whoever scrapes."""
    rest = HookFigures(0, "", "", "", 7)
    told = read(write_metrics([], rest, {}))
    assert told["hook_calls_total", OTHERS, OTHERS, OTHERS] == 7


@given(st.lists(st.tuples(st.text(), st.text(), st.text()), unique=True))
def test_any_name_is_one_label(names: list[tuple[str, str, str]]) -> None:
    """Quotes, backslashes and new lines are escaped."""
    figures = [HookFigures(0, *one, 1) for one in names]
    told = read(write_metrics(figures, NOBODY, STATES))
    calls = sum(value for key, value in told.items() if key[0] == "hook_calls_total")
    assert calls == len(names)
    assert {key[1] for key in told if key[0] == "hook_failures_total"} == {one[0] for one in names}
