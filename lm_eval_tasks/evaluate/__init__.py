"""Running a model on the tasks."""
