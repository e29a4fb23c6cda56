"""What the hooks of a bundle would answer, asked without any effect."""
