"""Signals before and after the work of a command: they end the process with a sentence.

Importing takes most of a short run. Nothing has begun by then that would have to be ended in
order, so the process leaves at once, without a traceback; `run --json` still has its last line.
"""

from __future__ import annotations

import os
import signal

from amplifier_hooks.cli import exit_codes

# Nothing else is imported: each module would lengthen the time in which nobody answers.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

_CODES = {signal.SIGINT: exit_codes.INTERRUPTED, signal.SIGTERM: exit_codes.TERMINATED}
_SENTENCES = {signal.SIGINT: "Interrupted.", signal.SIGTERM: "Ended by SIGTERM."}
_PREFIXES = {signal.SIGINT: "", signal.SIGTERM: "Error: "}
# As `JsonDisplay` writes it; written out here because a handler must not import anything.
_RESULT = (
    '{"type": "result", "response": "", "session_id": null, "working_dir": null, '
    '"finish_reason": null, "truncated": false, '
    '"status": "%s", "error": "%s", "tokens": 0, "cost": null, "hook_failures": 0, "seconds": 0.0}'
)
_STATUSES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


class _Answer:
    """What happens when a signal comes: `stage` is where the process stands with its last line."""

    def __init__(self) -> None:
        self.numbers: list[signal.Signals] = []
        self.for_run = self.as_json = False
        self.stage: Literal["before", "writing", "after"] = "before"

    def receive(self, number: int, _frame: object = None) -> None:
        """Leave, with the last line if there is none; one that is being written is finished."""
        if self.stage == "writing":
            self.stage = "after"
            return
        if self.stage == "before":
            self._print_sentence(signal.Signals(number))
        os._exit(_CODES[signal.Signals(number)])

    def _print_sentence(self, number: signal.Signals) -> None:
        sentence = _SENTENCES[number]
        try:
            if self.as_json:
                os.write(1, f"{_RESULT % (_STATUSES[number], sentence)}\n".encode())
            os.write(2, f"{_PREFIXES[number]}{sentence}\n".encode())
        except OSError:  # nobody reads it
            pass


_answer = _Answer()


def answer_signals(arguments: Sequence[str]) -> None:
    """Leave with a sentence when a signal comes; for `run`, until its work begins."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    command = next((one for one in options if not one.startswith("-")), "")
    _answer.for_run = command == "run"
    _answer.as_json = _answer.for_run and "--json" in options
    for number in (signal.SIGINT, signal.SIGTERM) if _answer.for_run else (signal.SIGINT,):
        # A job in the background ignores Ctrl-C, and goes on doing so.
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _answer.receive)
            _answer.numbers.append(number)


def release_signals() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again; `run` does so itself when its work begins."""
    if _answer.for_run:
        return
    for number in _answer.numbers:
        signal.signal(number, signal.default_int_handler)
    _answer.numbers.clear()


def answers(number: signal.Signals) -> bool:
    """Whether this signal is answered here."""
    return number in _answer.numbers


class LastLine:
    """Inside, the result is written: no signal cuts it off, and none adds a second one after it."""

    def __enter__(self) -> None:
        for number in _answer.numbers:
            signal.signal(number, _answer.receive)
        _answer.stage = "writing"

    def __exit__(self, *_: object) -> None:
        _answer.stage = "after"
