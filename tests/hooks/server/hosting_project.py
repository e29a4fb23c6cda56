"""A project whose sessions a server runs: its bundle, and a person's trust in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.trust.material import collect_material
from amplifier_hooks.agent.trust.store import TrustStore
from tests.support.sessions import calls

WRITE = calls("Write", file_path="production/app.conf", content="workers = 4\n")


def save_bundle(folder: Path, *replies: Any, **sections: Any) -> None:
    """Write the bundle, with these sections; its model plays these replies."""
    folder.mkdir(exist_ok=True)
    script = [{"text": one} if isinstance(one, str) else one for one in replies]
    bundle = {
        "inherit": False,
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
        "providers": [{"module": "provider-scripted", "config": {"script": script}}],
        "tools": ["tool-filesystem"],
        "hooks": [{"module": "hooks-production-guard"}],
        "audit": {"enabled": True},
        **sections,
    }
    (folder / "amplifier.yaml").write_text(yaml.safe_dump(bundle))


def trust(folder: Path) -> None:
    """Trust what the folder holds now."""
    TrustStore().trust(collect_material(load_bundle(project_dir=folder), folder), "ann")
