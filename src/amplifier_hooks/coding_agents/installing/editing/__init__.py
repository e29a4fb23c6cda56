"""Editing JSON texts of others: one value changes, every other byte stays."""
