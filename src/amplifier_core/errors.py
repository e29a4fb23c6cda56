"""The exceptions of the kernel.

AmplifierError
├── HookError
│   ├── HookTimeout             a hook ran longer than the limit it was registered with
│   ├── HookDepthExceeded       emits nested too deep
│   └── InvalidHookResult       a hook answered with something that is not a HookResult
├── InjectionError
│   └── InjectionTooLarge       (also a ValueError) one injection is over the size limit
├── ApprovalError
│   └── ApprovalTimeout         (also a TimeoutError) nobody decided in time
├── AuditUnavailable            the trail cannot take a record, so nothing gated may run
├── ModuleError
│   ├── ModuleNotFound          (also a ValueError) no module of that id or path
│   └── ModuleLoadError         (also a RuntimeError) it is there, but it does not load or mount
│       └── ModuleValidationError   what was loaded is no module
├── SessionError
│   ├── SessionDenied           a hook refused the start of the session
│   └── SessionStateError       (also a RuntimeError) no state to resume, a call out of order
└── ToolError
    └── UnknownTool             the model asked for a tool that is not mounted
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal


class AmplifierError(Exception):
    """Root of everything the kernel raises on purpose."""


class HookError(AmplifierError):
    """A hook did not do its work."""


class HookTimeout(HookError):
    """A hook ran longer than the limit it was registered with."""


class HookDepthExceeded(HookError):
    """Emits were nested deeper than the kernel allows."""


class InvalidHookResult(HookError):
    """A hook answered with something that cannot be read as a HookResult."""


class InjectionError(AmplifierError):
    """A context injection could not be carried out."""


class InjectionTooLarge(InjectionError, ValueError):
    """One injection is over the size limit."""


class ApprovalError(AmplifierError):
    """An approval could not be obtained."""


class ApprovalTimeout(ApprovalError, TimeoutError):
    """Nobody decided before the deadline."""


ApprovalTimeoutError = ApprovalTimeout


class AuditUnavailable(AmplifierError):
    """The trail cannot take a record durably."""


LoadFailure = Literal[
    "invalid_package_layout",
    "missing_source",
    "invalid_entry_point",
    "invalid_module_metadata",
    "validation_failed",
    "unknown",
]
"""Why a module cannot be used, as `module:load_failed` says it."""


class ModuleError(AmplifierError):
    """A module cannot be used; `module_id` is the one, where a plan or a call named it.

    `entry_name` tells entries of one module apart, where a plan gives them names. `option` is the
    way to what is wrong in the entry's config: `("rules", 2, "action")`.
    """

    entry_name: str | None = None
    option: tuple[str | int, ...] = ()

    def __init__(
        self,
        *args: object,
        module_id: str | None = None,
        reason_code: LoadFailure = "unknown",
    ) -> None:
        super().__init__(*args)
        self.module_id = module_id
        self.reason_code = reason_code


class ModuleNotFound(ModuleError, ValueError):
    """No module answers to that id or path; `known` has the ids to choose from, if it was an id."""

    def __init__(
        self, *args: object, module_id: str | None = None, known: Iterable[str] = ()
    ) -> None:
        super().__init__(*args, module_id=module_id, reason_code="missing_source")
        self.known = tuple(known)


class ModuleLoadError(ModuleError, RuntimeError):
    """The module is there, but it does not load, validate or mount."""


class ModuleValidationError(ModuleLoadError):
    """What was loaded is no module: it has nothing that mounts, or does not keep its contract."""

    def __init__(
        self,
        *args: object,
        module_id: str | None = None,
        reason_code: LoadFailure = "validation_failed",
    ) -> None:
        super().__init__(*args, module_id=module_id, reason_code=reason_code)


class SessionError(AmplifierError):
    """A session cannot do what was asked."""


class SessionDenied(SessionError):
    """A hook refused the start of the session."""


class SessionStateError(SessionError, RuntimeError):
    """A saved state cannot be resumed, or a call came out of order."""


class ToolError(AmplifierError):
    """A tool cannot be called."""


class UnknownTool(ToolError):
    """The model asked for a tool that is not mounted."""

    def __init__(self, name: str, have: Iterable[str]) -> None:
        super().__init__(f"Unknown tool {name!r}; have {', '.join(sorted(have)) or 'none'}")
