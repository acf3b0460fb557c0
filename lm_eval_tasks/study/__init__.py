"""What measures the measuring: the report card of metrics and judges, contamination, linked rounds."""
