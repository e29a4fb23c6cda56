"""What an opening finds in a folder, told by whoever opens: this process, or one that never did.

python -m tests.support.openings FOLDER
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from amplifier_core.testing import RecordingDisplay
from amplifier_hooks import load_bundle, open_session
from amplifier_hooks.agent.trust.material import collect_material
from amplifier_hooks.agent.trust.store import TrustStore
from amplifier_hooks.external.opening import BundleSource, Settings

SITE = "TEST_SITE"
"""The variable with a folder of the path of imports."""


def find_opening(folder: Path) -> dict[str, Any]:
    """The bundle, whether it is trusted, what is mounted, and what the hooks say; or why not."""
    try:
        return asyncio.run(_open(folder))
    except Exception as error:  # noqa: BLE001 - that it fails is what was found
        return {"error": f"{type(error).__name__}: {error}"}


async def _open(folder: Path) -> dict[str, Any]:
    bundle = load_bundle(project_dir=folder)
    material = collect_material(bundle, folder)
    found: dict[str, Any] = {
        "digest": bundle.digest,
        "plan": bundle.mount_plan,
        "secrets": sorted(bundle.secrets),
        "sources": [str(one) for one in bundle.sources],
        "files": {name: content.decode() for name, content in material.files.items()},
        "trusted": TrustStore().is_trusted(material),
    }
    screen = RecordingDisplay()
    session = await open_session(bundle, working_dir=folder, display_system=screen)
    try:
        found["mounted"] = [
            (one.id, one.origin, one.error, [hook.name for hook in one.handlers])
            for one in session.mounting.mounted
        ]
        answer = await session.coordinator.hooks.emit("tool:pre", _call())
        found["answer"] = [answer.action, answer.reason]
    finally:
        await session.cleanup()
    found["shown"] = [text for text, _, _ in screen.messages]
    run = await BundleSource(bundle, Settings(display=screen, folder=folder)).open("test")
    try:
        answer = await run.coordinator.hooks.emit("tool:pre", _call())
        found["run"] = [answer.action, answer.reason]
    finally:
        await run.end("complete")
    return found


def _call() -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": "make deploy"}}


def main() -> None:
    """Tell it as JSON."""
    sys.path.insert(0, os.environ[SITE])
    sys.stdout.write(json.dumps(find_opening(Path(sys.argv[1])), sort_keys=True, default=str))


if __name__ == "__main__":
    main()
