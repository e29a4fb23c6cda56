"""The wall around commands: what the kernel of this machine lets them do, and nothing else."""
