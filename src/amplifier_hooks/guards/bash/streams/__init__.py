"""Where the input of a command comes from, and where its output goes."""
