"""amplifier schema: the JSON schema of amplifier.yaml, for editors."""

from __future__ import annotations

from pathlib import Path

import click

EPILOG = """\b
Examples:
  amplifier schema --write .amplifier/schema.json
  amplifier schema > schema.json
  amplifier schema --cases --write .amplifier/cases.json

Editors that use the YAML language server find it by this line on top of amplifier.yaml, which
`amplifier init` writes:

\b
The line:
  # yaml-language-server: $schema=.amplifier/schema.json
"""


@click.command(epilog=EPILOG)
@click.option("--cases", is_flag=True, help="Of files with cases, for `amplifier hooks test`.")
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False), help="Into this file.")
def schema(cases: bool, write: Path | None) -> None:
    """Print the JSON schema of amplifier.yaml: keys, values, and the options of our modules."""
    text = render_schema(cases=cases)
    if write is None:
        click.echo(text, nl=False)
        return
    write.parent.mkdir(parents=True, exist_ok=True)
    write.write_text(text, encoding="utf-8")
    click.echo(f"Wrote {write}")


def render_schema(*, cases: bool = False) -> str:
    """The schema of bundles, or of cases, as a file holds it."""
    import json

    from amplifier_hooks.cli.commands.schema.schemas import (
        write_bundle_schema,
        write_cases_schema,
    )

    written = write_cases_schema() if cases else write_bundle_schema()
    return json.dumps(written, indent=1) + "\n"
