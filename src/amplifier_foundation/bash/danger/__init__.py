"""What is known to be dangerous in a shell script: rules by name, each finding with its reason."""

from amplifier_foundation.bash.danger.checks import RULES, find_dangers
from amplifier_foundation.bash.danger.finding import Finding
from amplifier_foundation.bash.danger.lists import LISTED, ListedCommand

__all__ = ["LISTED", "RULES", "Finding", "ListedCommand", "find_dangers"]
