"""Describing modules without importing them: what there is, and of which kind."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from amplifier_core.loader.importing import find_package
from amplifier_core.models import ModuleInfo

_GUESSES = {
    "orchestrat": "orchestrator",
    "loop": "orchestrator",
    "provider": "provider",
    "tool": "tool",
    "hook": "hook",
    "context": "context",
}
"""What an id contains, and the kind that it says so, in this order."""

_DECLARED = "__amplifier_module_type__"
_UNKNOWN_VERSION = "unknown"


def describe_modules(
    entries: Mapping[str, EntryPoint], folders: Iterable[Path], mount_points: Mapping[str, str]
) -> list[ModuleInfo]:
    """The installed modules, then those in folders that have another id."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for module_id, entry in entries.items():
        version = getattr(entry.dist, "version", _UNKNOWN_VERSION)
        found[module_id] = (str(version), _read_entry_point(entry))
    for folder in folders:
        module_id = folder.name.removeprefix("amplifier-module-")
        facts = read_facts(find_package(module_id, folder))
        found.setdefault(module_id, (_UNKNOWN_VERSION, facts))
    return [
        _describe(module_id, version, facts, mount_points)
        for module_id, (version, facts) in found.items()
    ]


def _describe(
    module_id: str, version: str, facts: Mapping[str, Any], mount_points: Mapping[str, str]
) -> ModuleInfo:
    declared, about = facts.get("type"), str(facts.get("about") or "").strip()
    kind: Any = declared if declared in mount_points else guess_kind(module_id)
    return ModuleInfo(
        id=module_id,
        name=module_id,
        version=version,
        type=kind,
        mount_point=mount_points[kind],
        description=about.partition("\n")[0] or f"Module {module_id}",
    )


def guess_kind(module_id: str) -> str:
    """The kind of a module, by its id; a tool if that says nothing."""
    return next((kind for part, kind in _GUESSES.items() if part in module_id), "tool")


def read_facts(package: Path | None) -> dict[str, Any]:
    """The kind that a package declares, and its docstring."""
    file = package / "__init__.py" if package is not None and package.is_dir() else package
    try:
        tree = ast.parse(b"" if file is None else file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    assigned = {
        ast.unparse(target): node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    }
    kind = assigned.get(_DECLARED)
    return {
        "type": kind.value if isinstance(kind, ast.Constant) else None,
        "about": ast.get_docstring(tree),
    }


def _read_entry_point(entry: EntryPoint) -> dict[str, Any]:
    """The facts of the Python module that an entry point names."""
    name = str(entry.module)
    loaded = sys.modules.get(name)
    if loaded is not None:
        return {"type": getattr(loaded, _DECLARED, None), "about": loaded.__doc__}
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return {}
    return read_facts(Path(spec.origin)) if spec is not None and spec.origin else {}
