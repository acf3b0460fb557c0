"""Where papers and their files come from; the only room of the builder that opens a connection."""
