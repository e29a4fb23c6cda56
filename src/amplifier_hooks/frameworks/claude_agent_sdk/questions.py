"""Questions that wait in the program's own way: the call is deferred, and the run ends."""

from __future__ import annotations

from typing import Any

from amplifier_hooks.external.handover import Handed

Key = tuple[str, str, str]


class Questions:
    """What people have to decide before a session is resumed, and what they have decided.

    The result of a run whose `stop_reason` is "tool_deferred" has its questions in `waiting`. Give
    the answers, and resume the session with the same object, or with another one that was given
    them: payloads and answers are values that JSON can hold.
    """

    def __init__(self) -> None:
        self.waiting: list[dict[str, Any]] = []
        self._answers: dict[Key, Any] = {}

    def give(self, payload: dict[str, Any], answer: Any) -> None:
        """Answer a question with what `amplifier_hooks.frameworks.answer` has made."""
        self._answers[_name(payload)] = answer
        self.waiting = [one for one in self.waiting if _name(one) != _name(payload)]

    def find_answer(self, handed: Handed) -> Any:
        """The answer to a question; if there is none, the question waits for one."""
        payload = handed.to_payload()
        known = self._answers.get(_name(payload))
        if known is None and payload not in self.waiting:
            self.waiting.append(payload)
        return known


def _name(payload: dict[str, Any]) -> Key:
    return (str(payload["tool_call_id"]), str(payload["hook"]), str(payload["prompt"]))
