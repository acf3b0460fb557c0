"""Europe PMC itself."""
