"""The failure of a module, as an error, and as the ecosystem's events and applications hear it."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

from amplifier_core.errors import ModuleError, ModuleLoadError
from amplifier_core.events import MODULE_LOAD_FAILED, MODULE_ON_SESSION_READY_FAILED
from amplifier_core.interfaces import Host
from amplifier_core.loader.provider_entry import call_application
from amplifier_core.mount_plan import ModuleEntry
from amplifier_core.payloads import ModuleLoadFailedData, ModuleOnSessionReadyFailedData
from amplifier_core.utils import describe_error

logger = logging.getLogger(__name__)

IMPORT_FAILURES = (Exception, SystemExit)
"""What importing a module may raise; one that exits must not end the program, and with code 0."""

_NEEDED = {"orchestrator": "orchestrator", "context": "context manager"}


def explain_import(start: Path, error: BaseException) -> ModuleLoadError:
    """Why a file or package cannot be imported, with the line of its own that failed."""
    told = describe_error(error)
    if not isinstance(error, SyntaxError):  # which says itself where it is
        for step, line in traceback.walk_tb(error.__traceback__):
            file = Path(step.f_code.co_filename)
            if file.is_relative_to(start):
                told = f"{describe_error(error)} ({file.name}, line {line})"
    return ModuleLoadError(f"'{start}' cannot be imported: {told}")


def read_failure(module_id: str, error: Exception | SystemExit) -> ModuleError:
    """What a module raised, in a sentence that names it."""
    failure = error
    if not isinstance(failure, ModuleError):
        message = f"Module '{module_id}' cannot be mounted: {describe_error(error)}"
        failure = ModuleLoadError(message)
    failure.module_id = module_id
    return failure


def make_fatal(kind: str, failure: ModuleError) -> ModuleLoadError:
    """The error that ends the start of a session: it cannot do without the module."""
    needed = _NEEDED.get(kind)
    message = f"Cannot initialize without {needed}: {failure}" if needed else str(failure)
    fatal = ModuleLoadError(message, module_id=failure.module_id, reason_code=failure.reason_code)
    fatal.entry_name = failure.entry_name
    fatal.option = failure.option
    return fatal


async def report_failure(host: Host, kind: str, entry: ModuleEntry, failure: ModuleError) -> None:
    """Tell of a module that is left out; the application may raise to stop the start."""
    failure.entry_name = entry.name or entry.instance_id
    await host.notify(MODULE_LOAD_FAILED, _describe(kind, entry, failure))
    await call_application("provider.load_failure", host, kind, entry, failure)


async def report_unready(host: Host, module_id: str, error: Exception) -> None:
    """Tell of a module whose `on_session_ready` failed."""
    why = describe_error(error)
    logger.warning("Module '%s': on_session_ready failed: %s", module_id, why)
    data = ModuleOnSessionReadyFailedData(module_id=module_id, error=why)
    await host.notify(MODULE_ON_SESSION_READY_FAILED, data)
    await host.show(f"on_session_ready failed: {why}", "error", f"module:{module_id}")


def _describe(kind: str, entry: ModuleEntry, failure: ModuleError) -> ModuleLoadFailedData:
    data = ModuleLoadFailedData(
        module_type=kind.removesuffix("s"),
        module_id=entry.module,
        error=str(failure),
        reason_code=failure.reason_code,
    )
    if entry.instance_id is not None:
        data["instance_id"] = entry.instance_id
    return data
