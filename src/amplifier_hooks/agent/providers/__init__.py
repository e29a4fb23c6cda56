"""Model providers, one file each."""
