"""Datasets that were made elsewhere -> dataset folders."""
