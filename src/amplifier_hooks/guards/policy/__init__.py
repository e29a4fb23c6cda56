"""What guards share: paths, guarded globs, patterns, the shapes of secrets, editing tools."""
