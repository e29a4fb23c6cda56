"""Values that are hard to copy, to compare or to change."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any, NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from tests.support.hooks import Data


class Model(BaseModel):
    items: list[int] = []


@dataclasses.dataclass
class Card:
    items: list[int]


class Pair(NamedTuple):
    left: Any
    right: Any


class Mapping(dict):
    """Iterates and assigns as it likes."""

    def items(self):
        raise RuntimeError("no")

    def __setitem__(self, key, value):
        raise RuntimeError("read only")


class Itself(dict):
    def __copy__(self):
        return self


class Row(list):
    def __iter__(self):
        raise RuntimeError("no")

    def __copy__(self):
        raise RuntimeError("no")


class AlwaysEqual(dict):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None


class Rude:
    """An object that refuses everything one may ask of it."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no eq")

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __deepcopy__(self, memo: Any) -> Any:
        raise RuntimeError("no copy")

    __hash__ = object.__hash__


@dataclasses.dataclass(eq=False)
class Stubborn:
    items: list[int]

    def __deepcopy__(self, memo: Any) -> Any:
        raise RuntimeError("no copy")


def cycle() -> Data:
    data: Data = {"items": [1]}
    data["self"] = data
    data["pair"] = ([data],)
    return data


def nested(depth: int, kind: Any = dict) -> Any:
    value: Any = [0]
    for _ in range(depth):
        value = {"in": value} if kind is dict else kind([value])
    return value


def change(value: Any) -> None:  # noqa: C901 - one line for each kind of container
    """Change every container that can be changed, as deep as it goes."""
    pending, seen = [value], set()
    while pending:
        item = pending.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, dict):
            pending.extend(dict.values(item))
            dict.__setitem__(item, "leak", True)
        elif isinstance(item, list):
            pending.extend(list.__iter__(item))
            list.append(item, "leak")
        elif isinstance(item, tuple):
            pending.extend(tuple.__iter__(item))
        elif isinstance(item, set):
            item.add("leak")
        elif isinstance(item, bytearray):
            item.extend(b"leak")
        elif isinstance(item, collections.deque):
            pending.extend(item)
            item.append("leak")
        elif isinstance(item, Model | Card):
            item.items.append(666)


patient = settings(suppress_health_check=[HealthCheck.too_slow])

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
        | st.tuples(inner, inner)
        | st.sets(st.integers(), max_size=3)
        | st.builds(bytearray, st.binary(max_size=3))
    ),
    max_leaves=12,
)
