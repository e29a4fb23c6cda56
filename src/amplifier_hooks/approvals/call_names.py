"""Names for the calls that people are asked about: models repeat ids, and a run is claimed once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Run:
    """One call under an id, from its first question to its end."""

    number: int
    digest: str
    shown: set[str] = field(default_factory=set)
    is_edited: bool = False
    is_over: bool = False


class CallNames:
    """Gives every call of a session a name of its own: of its id and its input, and a number.

    The first call of an id with an input has the same name after this process was killed and
    another goes on, so that an approval is found again; and no other call of that id is in its way.
    """

    def __init__(self) -> None:
        self._runs: dict[tuple[str, str], _Run] = {}
        self._counts: Counter[tuple[str, str, str]] = Counter()

    def name(self, session_id: str, call_id: str, digest: str) -> str:
        """The name for a question: of the call that is being asked about, or of a new one.

        Another input under the same id is another call, unless a person made the change.
        """
        run = self._runs.get((session_id, call_id))
        if run is None or run.is_over or not (run.is_edited or digest in run.shown or not digest):
            again = self._counts[(session_id, call_id, digest)]
            run = self._runs[(session_id, call_id)] = _Run(again + 1, digest)
            self._counts[(session_id, call_id, digest)] += 1
        run.shown.add(digest)
        return _write(call_id, run)

    def find(self, session_id: str, call_id: str) -> str | None:
        """The name under which a call was asked about; None if it was not, or is over."""
        run = self._runs.get((session_id, call_id))
        return None if run is None or run.is_over else _write(call_id, run)

    def note_edit(self, session_id: str, call_id: str) -> None:
        """A person changed the input: what comes next under this id is the same call."""
        if run := self._runs.get((session_id, call_id)):
            run.is_edited = True

    def end(self, session_id: str, call_id: str) -> None:
        """The call is refused, or has started: what comes next under this id is another one."""
        if run := self._runs.get((session_id, call_id)):
            run.is_over = True


def _write(call_id: str, run: _Run) -> str:
    name = f"{call_id}@{run.digest[:12]}" if run.digest else call_id
    return name if run.number == 1 else f"{name}#{run.number}"
