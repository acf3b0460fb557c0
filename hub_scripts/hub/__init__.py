"""Dataset folders <-> the Hugging Face Hub."""
