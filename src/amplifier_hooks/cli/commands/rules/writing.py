"""Suggested rules, chosen by a person and written to a file of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from amplifier_hooks.insight.rule_suggestions import Suggestions


def choose(found: Suggestions, names: Sequence[str]) -> Suggestions:
    """The suggestions of these names, or all."""
    have = [one.name for one in found.proposals]
    for name in names:
        if name not in have:
            known = f"have {', '.join(have)}" if have else "none is suggested"
            raise click.UsageError(f"No suggested rule {name!r}; {known}")
    chosen = [one for one in found.proposals if not names or one.name in names]
    return replace(found, proposals=tuple(chosen))


def write_rules(file: Path, found: Suggestions) -> None:
    """Write the rules to a new file; one that is there stays as it is."""
    from amplifier_hooks.cli.person import refuse_agents

    refuse_agents()
    if not found.proposals:
        raise click.UsageError(f"No rule is suggested, so {str(file)!r} was not written")
    day = datetime.now(UTC).date().isoformat()
    text = (
        f"# Suggested by amplifier rules suggest on {day}. Read each rule before you use it:\n"
        "# amplifier run --approve rules:FILE\n"
        f"rules:\n{dump_rules([one.rule for one in found.proposals])}otherwise: ask\n"
    )
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise click.UsageError(
            f"{str(file)!r} is there already and was not changed; name a new file"
        ) from error
    except OSError as error:
        raise click.UsageError(f"{str(file)!r} cannot be written: {error.strerror}") from error


def dump_rules(rules: Sequence[dict[str, Any]], width: int = 100) -> str:
    """Rules as YAML, in plain letters that can be pasted: foreign text in it is quoted."""
    import yaml

    text: str = yaml.safe_dump(list(rules), sort_keys=False, allow_unicode=False, width=width)
    return text
