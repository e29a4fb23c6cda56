"""What the guards of the default bundle ask about and stop, measured on lists of commands."""
