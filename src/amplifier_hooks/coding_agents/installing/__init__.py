"""Putting the guard into the settings of coding agents, and taking it out again."""
