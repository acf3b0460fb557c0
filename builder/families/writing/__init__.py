"""Documents -> samples of the writing tasks: what is shown, what is asked for, which demonstrations."""
