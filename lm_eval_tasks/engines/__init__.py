"""Where pure functions run: in this process and its children, or on a Ray cluster."""
