"""Looking without a session: the hooks that a bundle mounts, and the trails that there are."""

PUBLIC_MODULES = (
    "effective_hooks",
    "evidence",
    "trails",
)
