"""What a process that died left behind, for the one that goes on."""
