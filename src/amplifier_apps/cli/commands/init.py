"""amplifier init: a commented bundle and a first hook, to start from."""

from __future__ import annotations

from pathlib import Path

import click

BUNDLE = """\
# What your agent is made of. Lines that start with # are off; everything not said here comes from
# the default bundle. Check it with: amplifier hooks list

name: {name}
description: What this project's agent may do, and who watches it.

# The first provider that is there answers. Keys come from the environment, never from this file.
# providers:
#   - module: provider-anthropic
#     config: {{ model: claude-sonnet-5-5 }}
#   - module: provider-openai
#     config: {{ base_url: "http://localhost:11434/v1", model: qwen3 }}   # Ollama, vLLM, LM Studio

hooks:
  # Your own first hook: a file beside this one. What you change runs once you trust it:
  # amplifier trust
  - module: ./hooks/first_hook.py
    priority: 50

  # Lint every file the agent writes; it reads the findings in the same turn.
  - module: hooks-linter-feedback

  # Ask a person before anything touches these paths.
  # - module: hooks-production-guard
  #   config:
  #     patterns: ["**/production/**", "**/*.env"]

  # Keep a copy of every file before it is overwritten: amplifier backups list
  # - module: hooks-backup

# approval:
#   mode: ask        # ask on the terminal; deny refuses whatever would ask

# audit:
#   level: full      # a record for each hook, start and end; read it with: amplifier audit show
"""

HOOK = '''\
"""A first hook: keep the agent's hands off the lock files.

A function named on_<event> is called at that event. It answers with a HookResult, or with nothing
to let things go on. Other events: amplifier hooks list
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from amplifier_core.models import HookResult

WRITING = {"Write", "Edit", "MultiEdit", "NotebookEdit"}
LOCK_FILES = {"package-lock.json", "poetry.lock", "Cargo.lock", "uv.lock"}


async def on_tool_pre(event: str, data: dict[str, Any]) -> HookResult:
    """Before a tool runs: deny, modify, ask, inject, or let it go on."""
    path = PurePath(str(data["tool_input"].get("file_path", "")))
    if data["tool_name"] in WRITING and path.name in LOCK_FILES:
        return HookResult(
            action="deny",
            reason=f"{path.name} is written by its own tool; run that instead.",
        )
    return HookResult()
'''


@click.command(epilog="\b\nExamples:\n  amplifier init\n  amplifier init ./my-project --force")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path())
@click.option("--force", is_flag=True, help="Overwrite what is there.")
def init(folder: Path, force: bool) -> None:
    """Write a commented bundle and a first hook into FOLDER (here, if not given)."""
    from amplifier_apps.cli.text.escape import escape
    from amplifier_apps.cli.text.output import print_line

    name = folder.resolve().name or "project"
    files = {
        folder / "amplifier.yaml": BUNDLE.format(name=_quote(name)),
        folder / "hooks" / "first_hook.py": HOOK,
    }
    there = [str(path) for path in files if path.exists()]
    if there and not force:
        raise click.ClickException(f"{escape(there[0])} is there already; --force overwrites it")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print_line(("good", "✓ "), escape(str(path)))
    _trust(folder, files)
    print_line("")
    print_line("Next: ", ("tool", "amplifier hooks list"), " shows your hook in its place.")


def _trust(folder: Path, written: dict[Path, str]) -> None:
    """Trust what was just written for the person, if that is all that the bundle runs."""
    from amplifier_apps.cli.approval.terminal_approval import get_user_name
    from amplifier_foundation.bundles import BundleError, load_bundle
    from amplifier_foundation.machine.snapshot import normalize
    from amplifier_foundation.trust.material import collect_material
    from amplifier_foundation.trust.store import TrustStore

    try:
        material = collect_material(load_bundle(project_dir=folder), folder)
    except BundleError:
        return  # of another layer; the next command says what is wrong with it
    known = {normalize(path): text.encode() for path, text in written.items()}
    if all(known.get(material.folder / name) == text for name, text in material.files.items()):
        TrustStore().trust(material, get_user_name())


def _quote(text: str) -> str:
    """A name as a YAML string, whatever is in it."""
    import json

    return json.dumps(text)
