"""What the Linux kernel offers to wall in a command: Landlock for files, seccomp for the rest."""
