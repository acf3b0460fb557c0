"""A month of the live benchmark in one command: new papers, a round, its scores, and all that is published of them."""
