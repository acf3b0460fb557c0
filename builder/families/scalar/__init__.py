"""SCALAR: cloze questions over citations, from the round's papers and the papers that they cite."""
