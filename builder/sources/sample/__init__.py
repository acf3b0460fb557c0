"""A made-up arXiv: a seeded world of papers, drawn as PDF and HTML files."""
