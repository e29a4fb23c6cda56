"""What is tested before anything is kept: sizes, places in lists, names of people."""
