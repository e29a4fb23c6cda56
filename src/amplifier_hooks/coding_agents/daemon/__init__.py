"""The resident process: one per user, it judges what the clients of coding agents hand it."""

PUBLIC_MODULES = ("control",)
