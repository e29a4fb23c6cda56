"""The name of an event, which knows the type of the data that the event carries."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Generic, NotRequired, Protocol, TypedDict, TypeVar

DataT = TypeVar("DataT", bound="EventData")
DataT_co = TypeVar("DataT_co", bound="EventData", covariant=True)

TYPES: dict[str, type[EventData] | str] = {}
"""The name of each event and the type of its data, in the order of their definition.

Of our own, it is the name of the type, until somebody asks for it.
"""

if TYPE_CHECKING:

    class Event(str, Generic[DataT_co]):
        """The name of an event, by which a type checker knows what data it carries."""

        data: DataT_co

else:

    class Event:
        """`Event[SomeData]("some:name")` notes the type; the name itself is a plain string."""

        def __class_getitem__(cls, data):
            return partial(_define, data)


class EventOf(Protocol[DataT]):
    """An event that carries exactly this data.

    Whoever emits takes the event as an `EventOf[DataT]` and its data as a `DataT`: so a payload
    that lacks a field, or is another event's, is a type error. `Event` itself could not tell: it
    is covariant, so that several events in one tuple are still strings.
    """

    data: DataT


def _define(data: type[EventData] | str, name: str) -> str:
    TYPES[name] = data
    return name


def find_type(name: str) -> type[EventData] | None:
    """The type of an event's data; None if nobody has defined the event."""
    found = TYPES.get(name)
    if isinstance(found, str):
        home, _, kind = found.partition(".")
        found = TYPES[name] = getattr(import_module(f"amplifier_core.events.{home}"), kind)
    return found


class EventData(TypedDict):
    """What every event carries; a session with a parent also says which.

    Whoever emits leaves these out: the registry adds them, and nobody can forge them.
    """

    session_id: NotRequired[str]
    timestamp: NotRequired[str]
    parent_id: NotRequired[str | None]
    judged_again: NotRequired[bool]
    """True if this hook is called once more after a wait for approval; see `writing-hooks`."""
    denied_by: NotRequired[str]
    """With `session.run_all`: the hook that has denied it, so that no answer has an effect."""
