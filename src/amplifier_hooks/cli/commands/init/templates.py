"""The files that `amplifier init` writes."""

from __future__ import annotations

import json

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

from amplifier_core.events.payloads import ToolPreData
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
