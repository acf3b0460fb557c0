"""Which tasks there are: one record for each setting, level and way to ask, from which all task files are written."""
