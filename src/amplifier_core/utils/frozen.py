"""Read-only dicts and lists: nested data that many can hold without a copy each.

They are dicts and lists to everybody who reads them. Who wants to change one copies it first:
`{**value}`, `[*value]`, `value.copy()` and `copy.deepcopy(value)` give ordinary ones.
"""

from __future__ import annotations

from typing import Any, NoReturn

READ_ONLY = (
    "this value is shared with others and cannot be changed in place; "
    "copy it, change the copy, and return it with action='modify'"
)


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise TypeError(READ_ONLY)


class FrozenDict(dict[Any, Any]):
    """A dict that cannot be changed."""

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> dict[Any, Any]:
        return dict(self)

    def __deepcopy__(self, _memo: Any) -> dict[Any, Any]:
        return {key: thaw(item) for key, item in self.items()}

    def __reduce__(self) -> tuple[type[dict[Any, Any]], tuple[dict[Any, Any]]]:
        return dict, (dict(self),)


class FrozenList(list[Any]):
    """A list that cannot be changed."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, _memo: Any) -> list[Any]:
        return [thaw(item) for item in self]

    def __reduce__(self) -> tuple[type[list[Any]], tuple[list[Any]]]:
        return list, (list(self),)


def thaw(value: Any) -> Any:
    """An ordinary copy of what may be read-only, at any depth."""
    if isinstance(value, FrozenDict | FrozenList):
        return value.__deepcopy__(None)
    return value
