"""Asking the person at the terminal."""

PUBLIC_MODULES = ("terminal_approval",)
