"""The published tables again: which runs they take, the runs, and our scores next to theirs."""
