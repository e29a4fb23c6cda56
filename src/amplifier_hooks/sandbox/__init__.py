"""The wall around commands: what the kernel of this machine lets them do, and nothing else."""

PUBLIC_MODULES = (
    "plain_process",
    "process",
    "protection",
    "seal_keeper",
    "wall",
)
