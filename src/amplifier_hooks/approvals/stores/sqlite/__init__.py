"""The store in one file on this machine."""
