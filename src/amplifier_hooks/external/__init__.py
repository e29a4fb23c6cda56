"""What all adapters share: a session of ours behind each run of theirs."""
