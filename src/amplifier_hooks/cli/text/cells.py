"""The cells that a text takes on a terminal."""

from __future__ import annotations

ELLIPSIS = "…"


def count_cells(text: str) -> int:
    """How many cells an escaped text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut_end(text: str, room: int) -> str:
    """As much of a text's start as fits into so many cells, with a sign where more follows."""
    if count_cells(text) <= room:
        return text
    room -= count_cells(ELLIPSIS)
    kept = 0
    for character in text:
        room -= count_cells(character)
        if room < 0:
            break
        kept += 1
    return text[:kept] + ELLIPSIS


def cut_start(text: str, room: int) -> str:
    """As much of a text's end as fits into so many cells, with a sign where more came before."""
    return cut_end(text[::-1], room)[::-1]
