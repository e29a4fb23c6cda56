"""The Model Context Protocol as tools, hooks and the gateway share it: names, frames, results."""
