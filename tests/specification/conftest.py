"""These tests run the specification's own examples, which are kept beside this repository.

Without that folder they are left out: what they prove is proven elsewhere with examples of our own.
"""

from pathlib import Path

SEEDS = Path(__file__).parents[3] / "shared" / "seeds"

collect_ignore_glob = [] if SEEDS.is_dir() else ["test_*.py"]
