"""The tables of a store, as numbered steps that lead from any version to the newest."""
