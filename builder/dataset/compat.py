"""`datasets`: the insides that the card uses."""

from collections.abc import Mapping
from typing import Any

from datasets import DatasetInfo
from datasets.info import DatasetInfosDict


def add_dataset_info(card: Any, infos: Mapping[str, DatasetInfo]) -> None:
    """Put the `dataset_info` of configurations into a card's data (`huggingface_hub.DatasetCardData`).

    A public way would be a method of `DatasetInfo` that gives its YAML form; `push_to_hub` alone has it.
    """
    DatasetInfosDict(dict(infos)).to_dataset_card_data(card)
