"""Rows as Parquet files: what a row has, how files of rows are read and written, and what rows say together."""
