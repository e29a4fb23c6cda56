"""The command line."""

PUBLIC_MODULES = ("approval",)
