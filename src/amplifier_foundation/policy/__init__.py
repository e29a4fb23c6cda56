"""What guards share: paths, territories, patterns, secrets."""
