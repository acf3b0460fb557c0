"""Datasets that were made elsewhere, as dataset folders of ours."""
