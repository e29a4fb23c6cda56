"""Events that all hooks let pass: most of what a trail holds, told from the bytes of a line.

To see that a line is one takes a fraction of the time that it takes to parse it and to type what is
in it. Only what is surely quiet is told so; any other line is for those who read all of it.
"""

from __future__ import annotations

import re
from collections.abc import Container

from amplifier_audit.record import TAIL, hash_record

_NUMBER = rb"(?:0|[1-9][0-9]{0,14})"
_MILLISECONDS = rb"(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,9})?"
# Texts in which nothing is escaped, so that their bytes say what they mean.
_TEXT = rb"[ !#-\[\]-~]*+"
_NAME = rb"[ !#-\[\]-~]++"
_WORD = rb"[!#-\[\]-~]++"
_ANSWER = rb'\{"hook":"%b","id":%b,"action":"continue","ms":%b\}' % (
    _NAME,
    _NUMBER,
    _MILLISECONDS,
)
_LINE = re.compile(
    rb'\{"v":1,"log":"[0-9a-f]{32}","seq":(%b),"time":"(%b)","mono":%b,"session":"(%b)",'
    rb'"turn":(%b),"event":"(%b)","hook":null,"registration":null,"type":"dispatch",'
    rb'"body":\{"action":"continue","hooks":\[((?:%b(?:,(?=\{)|(?=\])))*+)\],"data":(?=\{)'
    % (_NUMBER, _TEXT, _NUMBER, _TEXT, _NUMBER, _WORD, _ANSWER)
)
_SEQUENCE, _TIME, _SESSION, _TURN, _EVENT, _ANSWERS = range(1, 7)
_BEGIN = b'{"hook":"'
_MARKS = (b"$c", b"[REDACTED", b"[secret]", b"[withheld", b"\\u00")
"""What stands for values that were cut, kept apart, masked or withheld, or may spell it."""
_END = b',"hash":"%b"}\n'


class QuietEvent:
    """What a line says of an event that every hook let pass, if it is a record at all."""

    __slots__ = ("_found",)

    def __init__(self, found: re.Match[bytes]) -> None:
        self._found = found

    @property
    def sequence(self) -> int:
        """Its place in the trail."""
        return int(self._found[_SEQUENCE])

    @property
    def time(self) -> str:
        """ISO 8601 in UTC, as the writer's clock had it."""
        return self._found[_TIME].decode("ascii")

    counted_at = time
    """The time under which it is counted."""

    @property
    def session(self) -> str:
        """The session in which it happened."""
        return self._found[_SESSION].decode("ascii")

    @property
    def turn(self) -> int:
        """The turn of that session."""
        return int(self._found[_TURN])

    @property
    def event(self) -> str:
        """Its name."""
        return self._found[_EVENT].decode("ascii")

    @property
    def answers(self) -> list[bytes]:
        """One for each hook that ran, as `read_answer` takes it."""
        # Nothing there is escaped, so no name can hold this.
        return self._found[_ANSWERS].split(_BEGIN)[1:]

    def list_hooks(self) -> set[str]:
        """The names of the hooks that ran."""
        return {read_answer(one)[0] for one in self.answers}

    @property
    def may_have_gaps(self) -> bool:
        """Whether values may be missing from its data, or be masked; False is certain."""
        data = self._found.string[self._found.end() :]
        return (b"$" in data or b"[" in data or b"\\" in data) and any(
            mark in data for mark in _MARKS
        )


def match_quiet(line: bytes, heard: Container[bytes]) -> QuietEvent | None:
    """What a line says of a quiet event, if it is a record at all; None if the event is heard."""
    found = _LINE.match(line)
    return None if found is None or found[_EVENT] in heard else QuietEvent(found)


def read_quiet(line: bytes, heard: Container[bytes]) -> QuietEvent | None:
    """The same, of a line that is as somebody wrote it who knows the format."""
    event = match_quiet(line, heard)
    if event is None or not line.endswith(_END % hash_record(line[:-TAIL]).encode()):
        return None
    return event


def read_answer(answer: bytes) -> tuple[str, float]:
    """The name of a hook, and how many milliseconds it took."""
    name, *_, took = answer.split(b'"')
    return name.decode("ascii"), float(took.strip(b":},"))
