"""PDF and HTML files -> documents."""
