"""Context managers, one file each."""
