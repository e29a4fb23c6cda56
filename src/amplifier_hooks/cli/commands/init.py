"""amplifier init: a commented bundle and a first hook, to start from."""

from __future__ import annotations

import json
from pathlib import Path

import click

BUNDLE = """\
# yaml-language-server: $schema=.amplifier/schema.json

# What your agent is made of. Lines that start with # are off; everything not said here comes from
# the default bundle. Check it with: amplifier hooks list

name: {name}
description: What the agent of this project may do, and which hooks watch it.

{providers}
hooks:
  # Your own first hook: a file beside this one. What you change runs once you trust it:
  # amplifier trust
  - module: ./hooks/first_hook.py
    priority: 50

  # Lint every file the agent writes; it reads the findings in the same turn.
  - module: hooks-linter-feedback

{guard}
  # Keep a copy of every file before it is overwritten: amplifier backups list
  # - module: hooks-backup

# approval:
#   mode: ask        # on the terminal; deny refuses instead, edits allows edits of files here

# audit:
#   level: full      # a record for each hook, start and end; read it with: amplifier audit show
"""

PROVIDERS = """\
# The first provider that is there answers. Keys come from the environment, never from this file.
# providers:
#   - module: provider-anthropic
#     config: { model: claude-sonnet-5-5 }
#   - module: provider-openai
#     config: { base_url: "http://localhost:11434/v1", model: qwen3 }   # Ollama, vLLM, LM Studio
"""

SCRIPT = """\
# No model: the conversation below is written beforehand, everything else is real. To talk with a
# model instead, delete `providers` and set ANTHROPIC_API_KEY or OPENAI_API_KEY.
providers:
  - module: provider-scripted
    config:
      script:
        - text: I read the bundle first.
          tool_calls:
            - { name: Read, input: { file_path: amplifier.yaml } }
        - text: Now I write a lock file, which your first hook forbids.
          tool_calls:
            - { name: Write, input: { file_path: uv.lock, content: "version = 1" } }
        - text: That was denied, and I was told why. The next file needs your yes.
          tool_calls:
            - { name: Write, input: { file_path: production/app.conf, content: "workers = 4" } }
        - text: >-
            That is all. I read one file, a hook kept me from writing another, and about the last
            one you were asked.
      closing: The script is finished; add replies to it in amplifier.yaml.
"""

GUARD = """\
  # Ask a person before anything touches these paths. The list replaces the default one, so the
  # first three are those of the default.
  # - module: hooks-production-guard
  #   config:
  #     patterns: ["production/**", "*.env", ".env.*", "**/*.tfstate"]
"""

OFFLINE_GUARD = """\
  # Ask a person before anything touches these paths. The list replaces the default one, so what
  # is in it already stays in it: add yours.
  - module: hooks-production-guard
    config:
      patterns: ["production/**", "*.env", ".env.*"]
"""

HOOK = '''\
"""A first hook: keep the agent from writing lock files.

The function is called at the event that @hook names. It answers with a HookResult, or with nothing
to let things go on. on_error="deny" makes it a guard: if it fails, the call is denied.
Other events, and what they carry: amplifier events
"""

from __future__ import annotations

from pathlib import PurePath

from amplifier_core.payloads import ToolPreData
from amplifier_core.interfaces import hook
from amplifier_core.models import HookResult

WRITING = {"Write", "Edit", "MultiEdit", "NotebookEdit"}
LOCK_FILES = {"package-lock.json", "poetry.lock", "Cargo.lock", "uv.lock"}


@hook("tool:pre", on_error="deny")
async def protect_lock_files(event: str, data: ToolPreData) -> HookResult:
    """Before a tool runs: deny, modify, ask, inject, or let it go on."""
    path = PurePath(str(data["tool_input"].get("file_path", "")))
    if data["tool_name"] in WRITING and path.name in LOCK_FILES:
        return HookResult(
            action="deny",
            reason=f"{path.name} is written by its own tool; run that instead.",
        )
    return HookResult()
'''


def write_bundle(name: str, *, offline: bool) -> str:
    """The bundle; with `offline`, one whose model is a script, so that a session needs no key."""
    return BUNDLE.format(
        name=json.dumps(name),
        providers=SCRIPT if offline else PROVIDERS,
        guard=OFFLINE_GUARD if offline else GUARD,
    )


PROMPT = "show me what hooks do"

EPILOG = """\b
Examples:
  amplifier init
  amplifier init --offline      with a scripted model: needs no key
  amplifier init ./my-project --force
"""


@click.command(epilog=EPILOG)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path())
@click.option("--offline", is_flag=True, help="Use a scripted model, which needs no key.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def init(folder: Path, offline: bool, force: bool) -> None:
    """Write a commented bundle and a first hook into FOLDER (the current one by default)."""
    from amplifier_hooks.cli.commands.schema import render_schema
    from amplifier_hooks.cli.text.output import print_line
    from amplifier_hooks.text.escape import escape

    name = folder.resolve().name or "project"
    files = {
        folder / "amplifier.yaml": write_bundle(name, offline=offline),
        folder / "hooks" / "first_hook.py": HOOK,
    }
    there = [str(path) for path in files if path.exists()]
    if there and not force:
        raise click.ClickException(f"{escape(there[0])} already exists; --force overwrites it")
    files[folder / ".amplifier" / "schema.json"] = render_schema()
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print_line(("good", "✓ "), escape(str(path)))
    _trust(folder, files)
    _print_next(folder, offline)


def _print_next(folder: Path, offline: bool) -> None:
    """The commands to go on with, as they can be pasted here."""
    from amplifier_hooks.cli.program_name import name_program, quote
    from amplifier_hooks.cli.text.output import print_heading
    from amplifier_hooks.cli.text.table import Column, print_table
    from amplifier_hooks.text.escape import escape

    elsewhere = folder.resolve() != Path.cwd()
    program = name_program(absolute=elsewhere)
    steps = [
        (f"{program} hooks list", "shows your hook among the others"),
        (f'{program} run "{PROMPT}"', _describe_run(offline)),
        (f"{program} audit show", "shows what happened"),
    ]
    if elsewhere:
        steps.insert(0, (f"cd {quote(str(folder))}", ""))
    print_heading("Next")
    rows = [(escape(command), remark) for command, remark in steps]
    print_table(rows, Column("tool"), Column("dim"), indent=2)


def _describe_run(offline: bool) -> str:
    if offline:
        return "runs a scripted agent; one call is denied, another asks you first"
    return "needs ANTHROPIC_API_KEY or OPENAI_API_KEY; without one: init --offline"


def _trust(folder: Path, written: dict[Path, str]) -> None:
    """Trust what was just written for the person, if that is all that the bundle runs."""
    from amplifier_hooks.agent.bundles import BundleError, load_bundle
    from amplifier_hooks.agent.trust.material import collect_material
    from amplifier_hooks.agent.trust.store import TrustStore
    from amplifier_hooks.machine.files import normalize
    from amplifier_hooks.machine.locations import get_user_name

    try:
        material = collect_material(load_bundle(project_dir=folder), folder)
    except BundleError:
        return  # of another layer; the next command says what is wrong with it
    known = {normalize(path): text.encode() for path, text in written.items()}
    if all(known.get(material.folder / name) == text for name, text in material.files.items()):
        TrustStore().trust(material, get_user_name())
