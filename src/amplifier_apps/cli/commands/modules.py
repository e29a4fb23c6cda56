"""amplifier modules: which there are, and whether one of your own keeps the contract."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from amplifier_apps.cli import exit_codes
from amplifier_apps.cli.options import AS_JSON, parse_json_object

KINDS = {
    "loop": "orchestrator",
    "context": "context",
    "tool": "tool",
    "provider": "provider",
    "hooks": "hook",
}


@dataclass(frozen=True, slots=True)
class InstalledModule:
    """An installed module, as far as it can be known without importing it."""

    id: str
    kind: str
    target: str
    package: str
    summary: str


@click.group(
    epilog="\b\nExamples:\n  amplifier modules list --kind hook\n"
    "  amplifier modules validate ./my_hook.py"
)
def modules() -> None:
    """List the modules there are; check one of your own."""


@modules.command("list")
@click.option("--kind", type=click.Choice(sorted(set(KINDS.values()))), help="Only of this kind.")
@AS_JSON
def list_modules(kind: str | None, as_json: bool) -> None:
    """Installed modules: their id, kind, and what they do."""
    from amplifier_apps.cli.text.escape import escape
    from amplifier_apps.cli.text.table import Column, print_table

    found = [known for known in find_installed() if kind in (None, known.kind)]
    if as_json:
        import json
        from dataclasses import asdict

        click.echo(json.dumps([asdict(known) for known in found], indent=2))
        return
    rows = [(escape(one.id), one.kind, escape(one.summary)) for one in found]
    print_table(rows, Column("tool"), Column("dim"), Column(overflow="cut end"))


def find_installed() -> list[InstalledModule]:
    """Every module that an installed package offers; of two with one id, the one that mounts."""
    from amplifier_core.loader import ModuleLoader

    found = []
    for entry in ModuleLoader().known().values():
        package = entry.dist.name if entry.dist else "?"
        kind = KINDS.get(entry.name.split("-", 1)[0], "module")
        summary = _read_summary(entry.module)
        found.append(InstalledModule(entry.name, kind, entry.value, package, summary))
    return sorted(found, key=lambda known: (known.kind, known.id))


def _read_summary(module: str) -> str:
    """The first line of a module's docstring, read from its source: importing could be slow."""
    from importlib.util import find_spec

    try:
        spec = find_spec(module)
        source = Path(spec.origin or "").read_text(encoding="utf-8") if spec else ""
        text = ast.get_docstring(ast.parse(source)) or ""
    except (ImportError, OSError, SyntaxError, ValueError) as error:
        return f"cannot be read: {error}"
    first = text.split("\n", 1)[0]
    return first.split(": ", 1)[-1] if text else "(not there)"


@modules.command()
@click.argument("module")
@click.option(
    "--kind", type=click.Choice(sorted(set(KINDS.values()))), help="Guessed if not given."
)
@click.option("--config", "config_json", default="{}", help="Its config, as JSON.")
@click.option("--run", "may_run", is_flag=True, help="Run a file that you have not trusted yet.")
@AS_JSON
def validate(module: str, kind: str | None, config_json: str, may_run: bool, as_json: bool) -> int:
    """Check a MODULE (an id, a file or a folder) against the contract of its kind.

    That runs it. A file or folder is run if it is trusted, or with --run.
    """
    import asyncio

    config = parse_json_object(config_json, "--config")
    if not may_run:
        _require_trusted(module)
    return asyncio.run(_validate(module, kind or guess_kind(module), config, as_json))


def _require_trusted(module: str) -> None:
    """Refuse a file or folder whose content nobody has trusted in this folder."""
    from amplifier_apps.cli.text.escape import escape
    from amplifier_core.mount_plan import ModuleEntry
    from amplifier_foundation.machine.snapshot import Snapshot
    from amplifier_foundation.trust.entry_files import find_source, read_source
    from amplifier_foundation.trust.material import Untrusted
    from amplifier_foundation.trust.store import TrustStore

    snapshot = Snapshot()
    source = find_source(ModuleEntry(module=module), Path.cwd())
    found = [] if source is None else read_source(source, snapshot)
    if found and not TrustStore().has_seen(Path.cwd(), snapshot.files.values()):
        names = ", ".join(escape(str(path)) for path in found[:5])
        raise Untrusted(
            f"{names}: nobody has trusted this, so it was not run. Look at it, then: amplifier "
            f"modules validate --run {escape(module)}"
        )


def guess_kind(module: str) -> str:
    """By the beginning of its name; what says nothing is taken for a hook."""
    name = Path(module).stem.replace("_", "-")
    name = name.removeprefix("amplifier-module-")
    return KINDS.get(name.split("-", 1)[0], "hook")


async def _validate(module: str, kind: str, config: dict[str, Any], as_json: bool) -> int:
    from amplifier_core import validation

    validators = {
        "hook": validation.HookValidator,
        "tool": validation.ToolValidator,
        "provider": validation.ProviderValidator,
        "context": validation.ContextValidator,
        "orchestrator": validation.OrchestratorValidator,
    }
    result = await validators[kind](thorough=True).validate(module, config=config)
    _print_checks(module, kind, result, as_json)
    return exit_codes.DONE if result.passed else exit_codes.CONFIGURATION


def _print_checks(module: str, kind: str, result: Any, as_json: bool) -> None:
    from amplifier_apps.cli.text.escape import escape
    from amplifier_apps.cli.text.output import print_line

    if as_json:
        import json
        from dataclasses import asdict

        click.echo(
            json.dumps({"passed": result.passed, "checks": [asdict(c) for c in result.checks]})
        )
        return
    print_line(("title", escape(module)), ("dim", f"  as a {kind}"))
    for check in result.checks:
        sign = ("good", "✓ ") if check.passed else ("bad", "✗ ")
        print_line("  ", sign, escape(check.message), ("dim", f"  {check.name}"))
