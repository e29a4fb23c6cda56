"""What is known to be dangerous in a shell script: rules by name, each finding with its reason."""

from amplifier_hooks.guards.bash.danger.checks import RULES, find_dangers
from amplifier_hooks.guards.bash.danger.finding import Finding
from amplifier_hooks.guards.bash.danger.lists import LISTED, ListedCommand

__all__ = ["LISTED", "RULES", "Finding", "ListedCommand", "find_dangers"]
