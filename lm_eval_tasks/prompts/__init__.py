"""The published prompts, and their reading."""
