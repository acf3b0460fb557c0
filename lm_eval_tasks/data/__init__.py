"""Dataset -> the rows of a run, with prompts that fit the model."""
