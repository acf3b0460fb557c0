"""arXiv -> versioned dataset folder: everything that builds a round of AcademicEval."""
