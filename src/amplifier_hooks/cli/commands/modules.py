"""amplifier modules: which there are, and whether one of your own keeps the contract."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.options import AS_JSON, parse_json_object

if TYPE_CHECKING:
    from amplifier_hooks.machine.files import Snapshot

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
    """List installed modules; check one of your own."""


@modules.command("list")
@click.option("--kind", type=click.Choice(sorted(set(KINDS.values()))), help="Only of this kind.")
@AS_JSON
def list_modules(kind: str | None, as_json: bool) -> None:
    """List installed modules: id, kind, and what they do."""
    from amplifier_hooks.agent.trust.material import guard_imports
    from amplifier_hooks.cli.text.table import Column, print_table
    from amplifier_hooks.text.escape import escape

    with guard_imports(Path.cwd()):
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
@click.option("--kind", type=click.Choice(sorted(set(KINDS.values()))), help="Guessed if omitted.")
@click.option("--config", "config_json", default="{}", help="Its config, as JSON.")
@click.option("--run", "may_run", is_flag=True, help="Run a file that you have not trusted yet.")
@AS_JSON
def validate(module: str, kind: str | None, config_json: str, may_run: bool, as_json: bool) -> int:
    """Check a MODULE (an id, a file or a folder) against the contract of its kind.

    This runs the module. A file or folder that is not trusted needs --run.
    """
    import asyncio

    config = parse_json_object(config_json, "--config")
    opened = nullcontext(module) if may_run else _open_trusted(module)
    with opened as place:
        return asyncio.run(_validate(place, module, kind or guess_kind(module), config, as_json))


@contextmanager
def _open_trusted(module: str) -> Iterator[str]:
    """What can be validated in place of a module: for a file or folder, a copy of what was trusted.

    Untrusted if nobody has trusted its content in this folder.
    """
    import tempfile

    from amplifier_hooks.agent.trust.material import guard_imports

    folder = Path.cwd()
    source, snapshot = _find_files(module, folder)
    with guard_imports(folder), tempfile.TemporaryDirectory(prefix="amplifier-validate-") as place:
        if source is None:
            yield module
            return
        _require_trusted(module, folder, snapshot)
        for path, content in snapshot.files.items():
            target = Path(place, path.relative_to(source.parent))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        yield str(Path(place, source.name))


def _find_files(module: str, folder: Path) -> tuple[Path | None, Snapshot]:
    """The file or folder that a module is in, if it is not installed, as it is now."""
    from amplifier_core.mount_plan import ModuleEntry
    from amplifier_hooks.agent.trust.material import (
        find_in_search_paths,
        find_source,
        read_source,
    )
    from amplifier_hooks.machine.files import Snapshot

    snapshot = Snapshot()
    entry = ModuleEntry(module=module)
    source = find_source(entry, folder) or next(find_in_search_paths(entry, folder), None)
    if source is not None:
        read_source(source, snapshot)
    return source, snapshot


def _require_trusted(module: str, folder: Path, snapshot: Snapshot) -> None:
    from amplifier_hooks.agent.trust.material import Untrusted
    from amplifier_hooks.agent.trust.store import TrustStore
    from amplifier_hooks.text.escape import escape

    if not TrustStore().has_seen(folder, snapshot.files.values()):
        names = ", ".join(escape(str(path)) for path in list(snapshot.files)[:5])
        raise Untrusted(
            f"{names}: nobody has trusted this, so it was not run. Look at it, then: amplifier "
            f"modules validate --run {escape(module)}"
        )


def guess_kind(module: str) -> str:
    """By the beginning of its name; what says nothing is taken for a hook."""
    name = Path(module).stem.replace("_", "-")
    name = name.removeprefix("amplifier-module-")
    return KINDS.get(name.split("-", 1)[0], "hook")


async def _validate(
    place: str, module: str, kind: str, config: dict[str, Any], as_json: bool
) -> int:
    from amplifier_core import validation

    validators = {
        "hook": validation.HookValidator,
        "tool": validation.ToolValidator,
        "provider": validation.ProviderValidator,
        "context": validation.ContextValidator,
        "orchestrator": validation.OrchestratorValidator,
    }
    result = await validators[kind](thorough=True).validate(place, config=config)
    _print_checks(module, kind, result, as_json)
    return exit_codes.DONE if result.passed else exit_codes.CONFIGURATION


def _print_checks(module: str, kind: str, result: Any, as_json: bool) -> None:
    from amplifier_hooks.cli.text.output import print_line
    from amplifier_hooks.text.escape import escape

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
