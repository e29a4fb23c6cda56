"""Verifying many records in little time, with the same verdict as one after the other."""
