"""Times as people write them: for `--since`, `--until` and all that means the same."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo

FORMS = (
    "today, yesterday, 90min, 24h, 7d or 2w (so long ago), 09:30 (today), 2026-11-15, "
    "2026-11-15T09:30 or 2026-11-15T09:30Z"
)
_BEGINNING = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\d(\.\d+)?)?)?)?)?)?", re.ASCII)
_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_AGO = re.compile(rf"(\d{{1,9}})\s*({'|'.join(sorted(_UNITS, key=len, reverse=True))})", re.ASCII)


class InvalidTime(ValueError):
    """This is not a time; the message says how one is written."""


def parse_time(text: str, *, zone: tzinfo | None = None, now: datetime | None = None) -> str:
    """A time as records have it, or the beginning of one: 2026 is the whole year.

    One without a zone is on the clock of this machine, or in `zone`.
    """
    moment = now or datetime.now(UTC)
    given = text.strip()
    try:
        return _to_record_time(_read(given, moment.astimezone(zone), zone))
    except (ValueError, OverflowError) as error:
        raise InvalidTime(f"{text!r} is not a time; write {FORMS}") from error


def _read(given: str, now: datetime, zone: tzinfo | None) -> str:
    """With a zone, if it has none; years and months stay."""
    days = {"today": 0, "yesterday": 1}
    if given.lower() in days:
        day = now.date() - timedelta(days=days[given.lower()])
        return _start(day, time(), zone)
    if ago := _AGO.fullmatch(given):
        seconds = int(ago.group(1)) * _UNITS[ago.group(2)]
        return (now - timedelta(seconds=seconds)).isoformat()
    try:
        if ":" in given[:3]:
            return _start(now.date(), time.fromisoformat(given), zone)
        when = datetime.fromisoformat(given)
    except ValueError:
        return given
    return _start(when.date(), when.time(), zone) if when.tzinfo is None else given


def _to_record_time(text: str) -> str:
    """A time as records have it, or the beginning of one, so that texts can be compared."""
    plain = text.strip().replace(" ", "T").removesuffix("Z")
    if _BEGINNING.fullmatch(plain):
        return plain
    return datetime.fromisoformat(plain).astimezone(UTC).isoformat().removesuffix("+00:00")


def _start(day: date, clock: time, zone: tzinfo | None) -> str:
    """A time of that day in the zone; without one, in that of this machine as it was then."""
    when = datetime.combine(day, clock)
    return (when.replace(tzinfo=zone) if zone else when.astimezone()).isoformat()
