"""arXiv itself."""
