"""Which events trails tell of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from amplifier_audit import AuditError
from amplifier_core.records import SessionEnded
from amplifier_hooks.trails.reading import read_history
from amplifier_hooks.trails.recorded import Item, Note, RecordedEvent


def find_emitted(wanted: Mapping[str, Collection[str]], trails: Iterable[Path]) -> set[str]:
    """Those of the wanted names and patterns that were emitted, as far as trails tell.

    Each is given with the hooks that hear nothing else: that one of them was called says it, too.
    """
    found: set[str] = set()
    for path in trails:
        if len(found) == len(wanted):
            break
        try:
            for item in read_history(path):
                found.update(_find(item, wanted))
        except (AuditError, OSError):
            continue  # what cannot be read tells of nothing
    return found


def _find(item: Item, wanted: Mapping[str, Collection[str]]) -> Iterator[str]:
    if isinstance(item, RecordedEvent):
        yield from (one for one in wanted if fnmatchcase(item.event, one))
    elif isinstance(item, Note) and isinstance(item.body, SessionEnded):
        called = item.body.stats.get("hooks")
        if isinstance(called, Mapping):
            yield from (one for one, hooks in wanted.items() if called.keys() & set(hooks))
