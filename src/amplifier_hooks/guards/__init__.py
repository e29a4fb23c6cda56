"""Hook modules, one file each."""
