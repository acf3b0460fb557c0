"""What of samples needs no task: splits, copies of papers, token counts."""
