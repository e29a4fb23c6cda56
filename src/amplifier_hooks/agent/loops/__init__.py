"""Loops that drive a turn, one file each."""
