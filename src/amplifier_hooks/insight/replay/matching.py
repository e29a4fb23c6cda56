"""Finds for each thing that happens now what happened then, in one session.

Tool calls of one reply run side by side, in an order that nobody fixes. So things are compared in
any order between two moments at which nothing else can be going on, such as two requests to the
model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amplifier_hooks.insight.replay.comparison import find_changes, identify, is_compared
from amplifier_hooks.trails import RecordedEvent

_QUIET = frozenset(
    {
        "session:start",
        "session:resume",
        "session:end",
        "prompt:submit",
        "prompt:answer",
        "prompt:complete",
        "execution:start",
        "execution:complete",
        "orchestrator:complete",
        "provider:request",
    }
)
"""Events that a session tells of when none of its tool calls is under way."""


def is_quiet(item: Any) -> bool:
    """Whether everything before an item is over when it happens."""
    return isinstance(item, RecordedEvent) and item.event in _QUIET


class Matcher:
    """The items of a recorded session, of which each is met once."""

    def __init__(self, items: Sequence[Any]) -> None:
        self._left = [one for one in items if is_compared(one)]

    @property
    def next(self) -> Any:
        """The first item that has not been met; None at the end."""
        return self._left[0] if self._left else None

    @property
    def left(self) -> list[Any]:
        """The items that have not been met."""
        return list(self._left)

    def meet(self, now: Any) -> Any:
        """The counterpart of what happens now, which is met by this; None if there is none."""
        if is_quiet(now):
            found = self.next if self._is_like_next(now) else None
        else:
            found = self._choose(now)
        if found is not None:
            self._left.remove(found)
        return found

    def skip_to(self, now: Any) -> list[Any]:
        """Pass over what did not happen again, up to the counterpart of a quiet moment."""
        wanted = identify(now)
        places = [place for place, one in enumerate(self._left) if identify(one) == wanted]
        if not places or not is_quiet(now):
            return []
        skipped, self._left = self._left[: places[0]], self._left[places[0] :]
        return skipped

    def _is_like_next(self, now: Any) -> bool:
        return self.next is not None and identify(self.next) == identify(now)

    def _choose(self, now: Any) -> Any:
        wanted = identify(now)
        found = [one for one in self.list_near() if identify(one) == wanted]
        same = (one for one in found if not find_changes(one, now))
        return next(same, found[0] if found else None)

    def list_near(self) -> list[Any]:
        """What may be met next: everything up to the next quiet moment, and that."""
        near: list[Any] = []
        for one in self._left:
            near.append(one)
            if is_quiet(one):
                break
        return near
