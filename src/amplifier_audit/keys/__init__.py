"""Ed25519 keys that sign checkpoints, and keys that verify them."""
