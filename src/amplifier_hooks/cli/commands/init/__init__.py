"""amplifier init: a commented bundle and a first hook, to start from."""

from __future__ import annotations

from pathlib import Path

import click

from amplifier_hooks.cli.commands.init.templates import HOOK, write_bundle

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
    from amplifier_hooks.cli.text.escape import escape
    from amplifier_hooks.cli.text.output import print_line

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
    from amplifier_hooks.cli.text.escape import escape
    from amplifier_hooks.cli.text.output import print_heading
    from amplifier_hooks.cli.text.table import Column, print_table

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
    from amplifier_hooks.machine.snapshot import normalize
    from amplifier_hooks.machine.user import get_user_name

    try:
        material = collect_material(load_bundle(project_dir=folder), folder)
    except BundleError:
        return  # of another layer; the next command says what is wrong with it
    known = {normalize(path): text.encode() for path, text in written.items()}
    if all(known.get(material.folder / name) == text for name, text in material.files.items()):
        TrustStore().trust(material, get_user_name())
