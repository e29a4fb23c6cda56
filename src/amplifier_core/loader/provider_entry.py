"""What entries of providers have beyond others in plans of the ecosystem.

`instance_id` mounts one module several times, under names of the plan's choice. An application may
offer two capabilities: `provider.before_load(coordinator, entry)`, and `provider.load_failure(
coordinator, entry, error)`, which stops the start of the session by raising.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amplifier_core.mount_plan import ModuleEntry
from amplifier_core.utils import resolve


async def call_application(
    capability: str, coordinator: Any, kind: str, entry: ModuleEntry, *more: Any
) -> None:
    """Call what the application offers for providers, if this is one."""
    offered = coordinator.get_capability(capability) if kind == "providers" else None
    if offered is not None:
        await resolve(offered(coordinator, entry.to_dict(), *more))


async def load_entry(
    loader: Any, coordinator: Any, kind: str, entry: ModuleEntry
) -> Callable[[Any], Any]:
    """Have the loader load a module; a provider's mount also gives it the name of its instance."""
    await call_application("provider.before_load", coordinator, kind, entry)
    mount: Callable[[Any], Any] = await loader.load(
        entry.module, dict(entry.config), source_hint=entry.source, coordinator=coordinator
    )
    if kind != "providers" or entry.instance_id is None:
        return mount

    async def mount_instance(coordinator: Any) -> Any:
        return await _mount_instance(mount, coordinator, entry.module, str(entry.instance_id))

    mount_instance.__dict__.update(getattr(mount, "__dict__", {}))
    return mount_instance


async def _mount_instance(
    mount: Callable[[Any], Any], coordinator: Any, module_id: str, instance_id: str
) -> Any:
    """Mount a provider and rename it; what stood under the module's own name is put back there."""
    before = dict(coordinator.get("providers"))
    undo = await resolve(mount(coordinator))
    after = coordinator.get("providers")
    fresh = [name for name, one in after.items() if before.get(name) is not one]
    default = module_id.removeprefix("provider-")
    for name in [default] if default in fresh else fresh[:1]:
        provider = after[name]
        if name in before:
            await coordinator.mount("providers", before[name], name=name)
        else:
            await coordinator.unmount("providers", name)
        await coordinator.mount("providers", provider, name=instance_id)
    return undo
