"""amplifier trust: allow what lies in this folder to be run, after having seen it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.options import AS_JSON, BUNDLE

if TYPE_CHECKING:
    from amplifier_hooks.agent.trust.material import Material
    from amplifier_hooks.agent.trust.store import Damaged, TrustStore

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
    from amplifier_hooks.agent.trust.store import TrustStore
    from amplifier_hooks.cli.person import refuse_agents

    store = TrustStore()
    if show:
        return _show(_collect(bundle), store)
    refuse_agents()
    if revoke:
        return _revoke(store)
    material = _collect(bundle)
    if digest:
        return _trust_digest(material, store, digest)
    return asyncio.run(_ask(material, store))


def _collect(bundle: Path | None) -> Material:
    from amplifier_hooks.agent.bundles import load_bundle
    from amplifier_hooks.agent.trust.material import collect_material

    # What is trusted are files; the values of variables are not needed to look at them.
    material = collect_material(load_bundle(bundle, unset=True), Path.cwd())
    _report_unset(material)
    return material


def _report_unset(material: Material) -> None:
    from amplifier_hooks.cli.text.output import print_line
    from amplifier_hooks.text.escape import escape

    for problem in material.bundle.unset:
        print_line(("warn", "! "), escape(f"Left out here: {problem}"))


def _revoke(store: TrustStore) -> int:
    from amplifier_hooks.cli.text.output import print_line
    from amplifier_hooks.text.escape import escape

    gone = store.revoke(Path.cwd())
    for one in gone:
        print_line(("good", "✓ "), f"{escape(one.bundle)} is no longer trusted")
    if not gone:
        print_line("Nothing was trusted in this folder.")
    return exit_codes.DONE


def _show(material: Material, store: TrustStore) -> int:
    from amplifier_hooks.agent.trust.difference import describe_first_use
    from amplifier_hooks.cli.approval.trust_question import describe, explain
    from amplifier_hooks.cli.text.output import print_line
    from amplifier_hooks.text.escape import escape

    trusted = store.is_trusted(material)
    text = describe_first_use(material) if trusted else describe(material, store)
    print_line(escape(text, lines=True))
    print_line("")
    print_line(("dim", f"Digest {material.digest}"))
    verdict = ("good", "✓ trusted") if trusted else ("bad", f"✗ {escape(explain(material, store))}")
    print_line(verdict)
    code = _print_dead_guards(material)
    return code if trusted else exit_codes.CONFIGURATION


def _trust_digest(material: Material, store: TrustStore, digest: str) -> int:
    from amplifier_hooks.machine.locations import get_user_name

    if digest != material.digest:
        raise click.ClickException(
            f"This folder has the digest {material.digest}, not {digest}; nothing was trusted"
        )
    store.trust(material, get_user_name())
    return _confirm(material)


async def _ask(material: Material, store: TrustStore) -> int:
    from amplifier_hooks.agent.trust.material import Untrusted
    from amplifier_hooks.cli.approval.trust_question import (
        WITHOUT_A_TERMINAL,
        ask_for_trust,
        explain,
    )
    from amplifier_hooks.cli.person import is_at_terminal

    if not material.files:
        click.echo("Nothing in this folder would run.")
        return exit_codes.DONE
    if not store.is_trusted(material):
        # A script that has a terminal somewhere above it would wait for the answer at that one.
        if not is_at_terminal():
            raise Untrusted(f"{explain(material, store)}. {WITHOUT_A_TERMINAL}")
        await ask_for_trust(material, store)
    return _confirm(material)


def _confirm(material: Material) -> int:
    from amplifier_hooks.cli.text.output import print_line
    from amplifier_hooks.text.escape import escape

    print_line(("good", "✓ "), escape(f"{material.name} of {material.folder} is trusted"))
    return _print_dead_guards(material)


def _print_dead_guards(material: Material) -> int:
    """Say which guards would guard nothing; no session starts with those."""
    from amplifier_hooks.agent.trust.difference import find_dead_guards
    from amplifier_hooks.cli.text.output import print_wrapped
    from amplifier_hooks.text.escape import escape

    found = find_dead_guards(material)
    for one in found:
        print_wrapped(0, ("bad", "✗ "), f"A guard would never run: {escape(one)}")
    return exit_codes.CONFIGURATION if found else exit_codes.DONE


@trust.command("list")
@AS_JSON
def list_trusted(as_json: bool) -> int:
    """List everything that is trusted, by folder."""
    from amplifier_hooks.agent.trust.store import TrustStore

    store = TrustStore()
    found = store.list()
    damaged = store.list_damaged()
    _report_damaged(damaged)
    if as_json:
        import json

        keys = ("folder", "bundle", "digest", "files", "at", "by")
        click.echo(
            json.dumps([{key: getattr(one, key) for key in keys} for one in found], indent=2)
        )
        return exit_codes.FAILED if damaged else exit_codes.DONE
    from amplifier_hooks.cli.text.table import Column, print_table
    from amplifier_hooks.text.escape import escape

    rows = [(escape(one.folder), escape(one.bundle), one.time, escape(one.by)) for one in found]
    if not rows and not damaged:
        click.echo("Nothing is trusted yet; `amplifier trust` does it for the folder you are in.")
    print_table(rows, Column(overflow="cut start"), Column("tool"), Column("dim"), Column("dim"))
    return exit_codes.FAILED if damaged else exit_codes.DONE


def _report_damaged(damaged: Collection[Damaged]) -> None:
    """On the side: a list in JSON stays one."""
    from amplifier_hooks.text.escape import escape

    for one in damaged:
        click.echo(escape(f"✗ {one.path} is damaged and trusts nothing: {one.why}"), err=True)
    if damaged:
        click.echo("Delete it, or trust the folder that it was about again.", err=True)
