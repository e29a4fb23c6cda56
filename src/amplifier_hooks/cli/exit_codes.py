"""The exit codes of the command, and which error means which.

`audit verify` alone has codes of its own: those of `amplifier_audit`, whose command they also are.
"""

from __future__ import annotations

DONE = 0
FAILED = 1
USAGE = 2
CONFIGURATION = 3
NO_MODEL = 4
DENIED = 5
INTERRUPTED = 130
TERMINATED = 143

# By name, so that naming an exit code never imports the kernel or a model's SDK.
_BY_NAME = {
    "BundleError": CONFIGURATION,
    "ModuleError": CONFIGURATION,
    "Untrusted": CONFIGURATION,
    "ModuleNotFound": CONFIGURATION,
    "ModuleLoadError": CONFIGURATION,
    "NoModel": NO_MODEL,
    "AuthenticationError": NO_MODEL,
    "SessionDenied": DENIED,
}
_EXPECTED = {"AmplifierError", "AuditError", "LLMError", "OSError", "BundleError"}


def find_exit_code(error: BaseException) -> int:
    """The exit code for an error."""
    names = (kind.__name__ for kind in type(error).__mro__)
    return next((_BY_NAME[name] for name in names if name in _BY_NAME), FAILED)


def is_expected(error: BaseException) -> bool:
    """Whether an error was raised to be read, not by mistake."""
    return any(kind.__name__ in _EXPECTED for kind in type(error).__mro__)
