"""The dataset folder: what is in it, how it is written, checked, copied and completed."""
