"""Modules that could not be mounted, reported with the line of the bundle that asks for them."""

from __future__ import annotations

from amplifier_core.errors import ModuleError, ModuleNotFound
from amplifier_core.mounting import Mounted
from amplifier_core.utils.suggest import suggest
from amplifier_foundation.bundles import Bundle
from amplifier_foundation.session.assembled import AssembledSession


async def report_left_out(session: AssembledSession, bundle: Bundle) -> None:
    """Show the person every module that was left out, and why."""
    for mounted in session.mounting.mounted:
        if mounted.failure is not None:
            why = _explain(mounted, mounted.failure)
            text = f"Left out: {add_place(why, mounted.id, bundle)}"
            await session.coordinator.show(text, "warning", "modules")


def _explain(mounted: Mounted, failure: ModuleError) -> str:
    if isinstance(failure, ModuleNotFound) and failure.known:
        return f"Unknown module {mounted.id!r}; {suggest(mounted.id, failure.known)}"
    return str(failure)


def add_place(why: str, module_id: str | None, bundle: Bundle) -> str:
    """The sentence, after the file and line that ask for the module if they are known."""
    place = None if module_id is None else bundle.place_of(module_id)
    return why if place is None else f"{place}: {why}"
