"""Deleting and opening up whole trees."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.danger.deletion import check_deletion, check_rights
from tests.hooks.guards.bash.danger.judging import ask


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("rm -rf /", "deny"),
        ("rm -r ~", "deny"),
        ("rm -rf /home/me", "deny"),
        ("rm --recur /etc", "deny"),
        ("rm -rf --no-preserve-root x", "deny"),
        ("rm -rf .", "ask"),
        ("rm -rf $x", "ask"),
        ("rm -rf /home/me/other", "ask"),
        ("rm -rf -- -x", None),
        ("rm -rf build", None),
        ("rm -rf /tmp/x", None),
        ("rm -f /etc/passwd", None),  # not recursive; the check of protected writes sees it
        ("rm", None),
        ("rm -r", None),
        ("find / -delete", "deny"),
        ("find -L / -delete", "deny"),
        ("find . -delete", "ask"),
        ("find -delete", "ask"),
        ("find . -name x -delete", None),
        ("find / -name x -delete", "deny"),
        ("find / -type f -delete", "deny"),
        ("find . -name x", None),
        ("ls -r /", None),
        ("grep -delete /", None),
        ("rm -- /etc/x", None),
        ("rm --r /etc", "deny"),
        ("rm - /etc", None),
    ],
)
def test_how_bad_a_deletion_is_depends_on_the_place(source: str, action: str | None) -> None:
    """The system is denied, one's own work asked about, what is below it let pass."""
    assert ask(check_deletion, source) == action


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("chmod -R 777 /", "deny"),
        ("chown --recursive me /usr", "deny"),
        ("chgrp -R x .", "ask"),
        ("chmod -R 700 $x", "ask"),
        ("chmod -R 700 sub", None),
        ("chmod 777 /", None),
        ("chmod -R 777", None),
        ("ls -R /", None),
    ],
)
def test_rights_of_whole_trees(source: str, action: str | None) -> None:
    """The first argument is the mode or the owner, the others are places."""
    assert ask(check_rights, source) == action
