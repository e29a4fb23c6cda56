"""Modules that a session goes without: those that could not be mounted, and those in shadow."""

from __future__ import annotations

from amplifier_core.errors import ModuleError, ModuleLoadError, ModuleNotFound
from amplifier_core.mount_plan import ModuleEntry, read_entry
from amplifier_core.utils.text import suggest
from amplifier_hooks.agent.bundles import Bundle
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.modules.observers import may_guard

WITHOUT = (
    "the session does not start without it, because it may be a guard; "
    "`required: false` in its entry would leave it out"
)


async def report_left_out(session: AssembledSession, bundle: Bundle) -> None:
    """Show the person every module that was left out, and why."""
    agent = session.parent_id is not None
    for mounted in session.mounting.mounted:
        if mounted.failure is not None:
            text = f"Left out: {add_place(mounted.failure, bundle, agent=agent)}"
            await session.coordinator.show(text, "warning", "modules")


async def report_shadows(session: AssembledSession) -> None:
    """Show the person which hooks only watch: whoever believes that they hold must not be wrong."""
    names = [one.id for one in session.mounting.mounted if one.shadows and one.failure is None]
    if names and session.parent_id is None:
        text = f"In shadow mode, recorded and without effect: {', '.join(names)}"
        await session.coordinator.show(text, "warning", "session")


def explain_stop(
    error: ModuleLoadError, session: AssembledSession, bundle: Bundle
) -> ModuleLoadError:
    """Why a session does not start: the module, the line that asks for it, and what would do."""
    agent = session.parent_id is not None
    message = add_place(error, bundle, agent=agent)
    if _is_required_as_guard(error, session):
        message += f" — {WITHOUT}"
    told = ModuleLoadError(message, module_id=error.module_id, reason_code=error.reason_code)
    told.entry_name = error.entry_name
    told.option = error.option
    return told


def add_place(failure: ModuleError, bundle: Bundle, *, agent: bool = False) -> str:
    """What went wrong, after the file and line of the option or of the module, if known."""
    module, why = failure.module_id, _explain(failure)
    if module is None:
        return why
    place = bundle.place_of(module, failure.entry_name, agent, failure.option)
    return why if place is None else f"{place}: {why}"


def _explain(failure: ModuleError) -> str:
    # One that ends the start was made from the one that says what is there instead.
    unknown = failure.__cause__ if isinstance(failure, ModuleLoadError) else failure
    if isinstance(unknown, ModuleNotFound) and unknown.known:
        wanted = str(failure.module_id)
        return f"Unknown module {wanted!r}; {suggest(wanted, unknown.known)}"
    return str(failure)


def _is_required_as_guard(error: ModuleLoadError, session: AssembledSession) -> bool:
    """Whether only the rule for guards requires the module, not its entry."""
    entries = [read_entry("hooks", one) for one in session.config.get("hooks") or ()]
    return any(
        _is_meant(entry, error) and may_guard(entry) and not entry.required for entry in entries
    )


def _is_meant(entry: ModuleEntry, error: ModuleLoadError) -> bool:
    name = entry.name or entry.instance_id
    return (entry.module, name) == (error.module_id, error.entry_name)
