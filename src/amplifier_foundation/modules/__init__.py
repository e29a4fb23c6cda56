"""What every module of ours shares: reading its options, registering its hooks, its extras."""
