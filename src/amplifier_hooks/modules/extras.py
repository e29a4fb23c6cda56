"""Optional packages: imported when they are needed; a missing one is named with its extra."""

from __future__ import annotations

import importlib
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.modules.installation import name_install_command


def require(package: str, owner: str, extra: str = "policy") -> Any:
    """Import a package, or raise an error that says what to install."""
    try:
        return importlib.import_module(package)
    except ImportError as missing:
        raise ModuleLoadError(
            f"{owner} needs the package {package!r}, which cannot be imported ({missing}); "
            f"install it with: {name_install_command(extra)}"
        ) from missing
