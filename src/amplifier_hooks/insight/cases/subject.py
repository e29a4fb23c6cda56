"""A subject: the hooks that cases are about, mounted afresh for each case."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from amplifier_core.errors import ModuleLoadError, ModuleNotFound
from amplifier_core.hooks import HookRegistry
from amplifier_core.loader import ModuleLoader
from amplifier_core.loader.importing import find_package
from amplifier_core.mount_plan import ModuleEntry
from amplifier_core.mounting import Mounting
from amplifier_core.testing import TestCoordinator
from amplifier_core.utils.suggest import suggest
from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.session.inspection.effective_hooks import mount_hooks
from amplifier_hooks.agent.trust.material import Material, collect_material


class Subject(Protocol):
    """Hooks that can be mounted any number of times."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    def mount(
        self, config: Mapping[str, Any], folder: Path
    ) -> AbstractAsyncContextManager[HookRegistry]:
        """The hooks in a registry of their own, as if a session worked in the folder."""
        ...


@dataclass(frozen=True, slots=True)
class ModuleSubject:
    """A hook file, the folder of a package, or the id of an installed module."""

    name: str
    path: Path | None = None
    """Where its code is, unless it is installed."""

    @asynccontextmanager
    async def mount(self, config: Mapping[str, Any], folder: Path) -> AsyncIterator[HookRegistry]:
        """Import the file as it is now and mount it."""
        coordinator = TestCoordinator()
        coordinator.register_capability("session.working_dir", str(folder))
        loader = ModuleLoader(base=folder)
        mounting = Mounting(coordinator, loader)
        source = None if self.path is None else str(self.path)
        entry = ModuleEntry(module=self.name, source=source, config=dict(config), required=True)
        try:
            await _mount(mounting, entry)
            await mounting.ready()
            _refuse_unready(mounting)
            yield coordinator.hooks
        finally:
            await mounting.unmount_all()
            await coordinator.cleanup()
            loader.cleanup()


@dataclass(frozen=True, slots=True)
class BundleSubject:
    """All hooks of a bundle, of which somebody has decided that they may run."""

    material: Material

    @property
    def name(self) -> str:
        """The file that the bundle begins with."""
        return self.material.name

    @asynccontextmanager
    async def mount(self, config: Mapping[str, Any], folder: Path) -> AsyncIterator[HookRegistry]:
        """Mount what the bundle names; one that cannot be mounted would make cases worthless."""
        async with mount_hooks(self.material, working_dir=folder) as found:
            if found.failures:
                raise ModuleLoadError("\n".join(found.failures))
            yield found.registry


def find_subject(name: str, folder: Path) -> ModuleSubject:
    """The hook file, the package or the installed module of a name, as seen from a folder."""
    if is_installed(name):
        return ModuleSubject(name)
    path = (folder / Path(name).expanduser()).absolute()
    if path.is_dir():
        _require_package(path, name)
    if path.exists() and (path.is_dir() or path.suffix == ".py"):
        return ModuleSubject(name, path)
    if name.endswith(".py") or "/" in name:
        raise ModuleLoadError(f"There is no file or folder {name!r} in {folder}")
    return ModuleSubject(name)


def is_installed(name: str) -> bool:
    """Whether a name is the id of an installed module; a folder of that name is not meant by it.

    Else whoever wants to try a module of ours might run what somebody put into the folder.
    """
    return "/" not in name and name in ModuleLoader().known()


def _require_package(path: Path, name: str) -> None:
    if (path / "__init__.py").is_file() or find_package(name, path):
        return
    files = sorted(one.name for one in path.glob("*.py"))
    instead = f"; name one of its files: {', '.join(files)}" if files else ""
    raise ModuleLoadError(f"The folder {name!r} is no package, it has no __init__.py{instead}")


def open_bundle(path: Path) -> BundleSubject:
    """The hooks of a bundle file, without the settings of the person who runs the cases."""
    path = path.absolute()
    bundle = load_bundle(path, project_dir=path.parent, user=False)
    return BundleSubject(collect_material(bundle, path.parent))


async def _mount(mounting: Mounting, entry: ModuleEntry) -> None:
    try:
        await mounting.mount("hooks", entry)
    except ModuleLoadError as error:
        unknown = error.__cause__
        if isinstance(unknown, ModuleNotFound) and unknown.known and entry.source is None:
            hint = suggest(entry.module, [one for one in unknown.known if one.startswith("hooks-")])
            message = f"There is no file and no module {entry.module!r}; {hint}"
            raise ModuleLoadError(message, module_id=entry.module) from None
        raise


def _refuse_unready(mounting: Mounting) -> None:
    for module_id, error in mounting.unready.items():
        raise ModuleLoadError(f"Module '{module_id}': on_session_ready failed: {error}")
