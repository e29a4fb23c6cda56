"""YAML files whose values know the line they stand in."""
