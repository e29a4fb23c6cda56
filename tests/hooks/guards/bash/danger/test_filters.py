"""Programs of awk and sed that do more than filter."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.danger.filters import is_risky_awk, is_risky_sed
from amplifier_hooks.guards.bash.script import parse_script


def read(source: str) -> Command:
    return parse_script(source).commands[0]


@pytest.mark.parametrize(
    ("source", "risky"),
    [
        ("awk '{print $1}' f", False),
        ("awk 'BEGIN{system(\"x\")}'", True),
        ("gawk '{print | \"sh\"}' f", True),
        ("mawk '{print > \"f\"}'", True),
        ("nawk '\"date\" | getline'", True),
        ("gawk '@load \"filefuncs\"'", True),
        ('awk "$program"', True),
        ("gawk -i inplace '{print}' f", True),
        ("gawk -l ext '{print}'", True),
        ("gawk 'BEGIN{f=\"x\"; @f()}'", True),
        ("grep system f", False),
    ],
)
def test_awk(source: str, risky: bool) -> None:
    """It has pipes, files and a shell; a program that is not literal may use them all."""
    assert is_risky_awk(read(source)) is risky


@pytest.mark.parametrize(
    ("source", "risky"),
    [
        ("sed 's/a/b/' f", False),
        ("sed -i 's/a/b/gI' f", False),
        ("sed -n '1,20p' f", False),
        ("sed 's/a/b/e' f", True),
        ("sed 's|a|b|w out' f", True),
        ("sed 's,a,b,ge' f", True),
        ("sed '1e id' f", True),
        ("sed '/x/e id' f", True),
        ("sed '/x/I!w out' f", True),
        ("sed -e p -e 'w out' f", True),
        ("sed 'p;e id' f", True),
        ("sed '1{e id\n}' f", True),
        ("sed 's/a/we/' f", False),
        ("sed -e1eid f", True),
        ("sed -ne '1e id' f", True),
        ("sed --expression='1e id' f", True),
        ("sed --expr=p f", False),
        ("sed -f script f", True),
        ("sed -E -i.bak 's/a+/b/' f", False),
        ("sed p w e", False),
        ('sed p "$f"', True),
        ("sed p *", False),
        ("sed p ./w", False),
        ("sed p /e", False),
        ('sed "$script" f', True),
        ("gsed '1e id' f", True),
        ("ssed '1e id' f", False),
    ],
)
def test_sed(source: str, risky: bool) -> None:
    """GNU sed runs commands and writes files from inside its script."""
    assert is_risky_sed(read(source)) is risky
