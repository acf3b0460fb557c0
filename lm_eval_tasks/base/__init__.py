"""What every room needs: errors, files, locks, text, tables, the command line, the journal, intervals. Imports nothing of ours."""
