"""The programs of scripts/, whose names end in nothing, as modules."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType


def load_script(path: Path) -> ModuleType:
    """A script as a module of its own, fresh each time."""
    loader = SourceFileLoader(f"{path.name.replace('-', '_')}_script", str(path))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
