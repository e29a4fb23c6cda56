"""Asking the person at the terminal."""
