"""amplifier trust: allow what lies in this folder to be run, after having seen it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_apps.cli import exit_codes
from amplifier_apps.cli.options import AS_JSON, BUNDLE

if TYPE_CHECKING:
    from amplifier_foundation.trust.material import Material
    from amplifier_foundation.trust.store import TrustStore

EPILOG = """\b
A bundle, its includes, hook files, rules, settings and the scripts that they name run only after a
person has trusted their content. After any change, you are asked again.

\b
Examples:
  amplifier trust                    show it and ask
  amplifier trust --show             only show it
  amplifier trust --digest 3f0c...   trust exactly this content, for scripts and machines
  amplifier trust list
"""


@click.group(epilog=EPILOG, invoke_without_command=True)
@click.option("--show", is_flag=True, help="Show what would run, or what has changed.")
@click.option("--revoke", is_flag=True, help="Stop trusting this folder.")
@click.option("--digest", help="Trust the content with this digest (from --show), without asking.")
@BUNDLE
@click.pass_context
def trust(
    ctx: click.Context, show: bool, revoke: bool, digest: str | None, bundle: Path | None
) -> int:
    """Look at what this folder would run, and allow it."""
    if ctx.invoked_subcommand is not None:
        return exit_codes.DONE
    if show + revoke + bool(digest) > 1:
        raise click.UsageError("Use only one of --show, --revoke and --digest")
    from amplifier_foundation.trust.store import TrustStore

    store = TrustStore()
    if revoke:
        return _revoke(store)
    material = _collect(bundle)
    if show:
        return _show(material, store)
    if digest:
        return _trust_digest(material, store, digest)
    return asyncio.run(_ask(material, store))


def _collect(bundle: Path | None) -> Material:
    from amplifier_foundation.bundles import load_bundle
    from amplifier_foundation.trust.material import collect_material

    return collect_material(load_bundle(bundle), Path.cwd())


def _revoke(store: TrustStore) -> int:
    from amplifier_apps.cli.text.escape import escape
    from amplifier_apps.cli.text.output import print_line

    gone = store.revoke(Path.cwd())
    for one in gone:
        print_line(("good", "✓ "), f"{escape(one.bundle)} is no longer trusted")
    if not gone:
        print_line("Nothing was trusted in this folder.")
    return exit_codes.DONE


def _show(material: Material, store: TrustStore) -> int:
    from amplifier_apps.cli.approval.trust_question import describe, explain
    from amplifier_apps.cli.text.escape import escape
    from amplifier_apps.cli.text.output import print_line
    from amplifier_foundation.trust.difference import describe_first_use

    trusted = store.is_trusted(material)
    text = describe_first_use(material) if trusted else describe(material, store)
    print_line(escape(text, lines=True))
    print_line("")
    print_line(("dim", f"Digest {material.digest}"))
    verdict = ("good", "✓ trusted") if trusted else ("bad", f"✗ {escape(explain(material, store))}")
    print_line(verdict)
    return exit_codes.DONE if trusted else exit_codes.CONFIGURATION


def _trust_digest(material: Material, store: TrustStore, digest: str) -> int:
    from amplifier_foundation.machine.user import get_user_name

    if digest != material.digest:
        raise click.ClickException(
            f"This folder has the digest {material.digest}, not {digest}; nothing was trusted"
        )
    store.trust(material, get_user_name())
    return _confirm(material)


async def _ask(material: Material, store: TrustStore) -> int:
    from amplifier_apps.cli.approval.trust_question import ask_for_trust

    if not material.files:
        click.echo("Nothing in this folder would run.")
        return exit_codes.DONE
    if not store.is_trusted(material):
        await ask_for_trust(material, store)
    return _confirm(material)


def _confirm(material: Material) -> int:
    from amplifier_apps.cli.text.escape import escape
    from amplifier_apps.cli.text.output import print_line

    print_line(("good", "✓ "), escape(f"{material.name} of {material.folder} is trusted"))
    return exit_codes.DONE


@trust.command("list")
@AS_JSON
def list_trusted(as_json: bool) -> int:
    """List everything that is trusted, by folder."""
    from amplifier_foundation.trust.store import TrustStore

    found = TrustStore().list()
    if as_json:
        import json

        keys = ("folder", "bundle", "digest", "files", "at", "by")
        click.echo(
            json.dumps([{key: getattr(one, key) for key in keys} for one in found], indent=2)
        )
        return exit_codes.DONE
    from amplifier_apps.cli.text.escape import escape
    from amplifier_apps.cli.text.table import Column, print_table

    rows = [(escape(one.folder), escape(one.bundle), one.time, escape(one.by)) for one in found]
    if not rows:
        click.echo("Nothing is trusted yet; `amplifier trust` does it for the folder you are in.")
    print_table(rows, Column(overflow="cut start"), Column("tool"), Column("dim"), Column("dim"))
    return exit_codes.DONE
