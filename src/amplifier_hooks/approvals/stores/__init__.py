"""Where approvals and what was seen of sessions are kept, for one machine or many."""
