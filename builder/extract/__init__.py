"""PDF, HTML and JATS files -> documents."""
