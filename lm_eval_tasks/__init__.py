"""AcademicEval as tasks of lm-evaluation-harness: dataset -> prompts -> scores. Needs none of the builder's dependencies."""
