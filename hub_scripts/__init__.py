"""Dataset folder <-> Hugging Face Hub."""
