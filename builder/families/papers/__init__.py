"""The texts that rows of other families show, each once."""
