"""The format of a log: records, their chain of hashes, checkpoints and proofs."""
