"""Names for the calls that people are asked about: models repeat ids, and a run is claimed once."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class _Run:
    """One call under an id, from its first question to its end."""

    number: int
    shown: set[str] = field(default_factory=set)
    is_edited: bool = False
    is_over: bool = False


class CallNames:
    """Gives every call of a session a name of its own: its id, with a number where it is repeated.

    The first call of an id has the id as its name, also after this process was killed and another
    goes on, so that an approval is found again.
    """

    def __init__(self) -> None:
        self._runs: dict[tuple[str, str], _Run] = {}

    def name(self, session_id: str, call_id: str, digest: str) -> str:
        """The name for a question: of the call that is being asked about, or of a new one.

        Another input under the same id is another call, unless a person made the change.
        """
        run = self._runs.get((session_id, call_id))
        if run is None or run.is_over or not (run.is_edited or digest in run.shown or not digest):
            run = _Run(1 if run is None else run.number + 1)
            self._runs[(session_id, call_id)] = run
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
    return call_id if run.number == 1 else f"{call_id}#{run.number}"
