"""`datasets`: the insides that we use."""

from collections.abc import Iterator
from contextlib import contextmanager

from datasets import config


def lacks_configuration(err: Exception) -> bool:
    """Tell whether `load_dataset_builder` failed because the dataset has no configuration of the name.

    A public way would be an exception of its own; it raises a ValueError that names its `BuilderConfig`.
    """
    return isinstance(err, ValueError) and "BuilderConfig" in str(err)


@contextmanager
def without_torch() -> Iterator[None]:
    """Stream datasets without importing torch, which takes longer than to stream a small round.

    A public way would be an argument of `load_dataset`; the environment variable `USE_TORCH` is read at import only.
    """
    before = config.TORCH_AVAILABLE
    config.TORCH_AVAILABLE = False
    try:
        yield
    finally:
        config.TORCH_AVAILABLE = before
