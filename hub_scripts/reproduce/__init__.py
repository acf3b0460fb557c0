"""The published tables again: which runs they take, the runs, and ours beside theirs."""
