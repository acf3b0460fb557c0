"""Results of models -> the Hub."""
