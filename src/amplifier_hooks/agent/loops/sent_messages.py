"""The messages of a request, in a list that knows whether somebody has changed it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from amplifier_core.message_models import Message


class SentMessages(list[Message]):
    """What a provider gets; a copy of it is a plain list."""

    changed = False

    def __reduce_ex__(self, _protocol: Any) -> tuple[type[list[Message]], tuple[list[Message]]]:
        return list, (list(self),)


def _note_change(name: str) -> Callable[..., Any]:
    change = getattr(list, name)

    @wraps(change)
    def note(self: SentMessages, *args: Any, **options: Any) -> Any:
        self.changed = True
        return change(self, *args, **options)

    return note


for _name in (
    "__delitem__", "__iadd__", "__imul__", "__setitem__", "append", "clear", "extend", "insert",
    "pop", "remove", "reverse", "sort",
):  # fmt: skip
    setattr(SentMessages, _name, _note_change(_name))
