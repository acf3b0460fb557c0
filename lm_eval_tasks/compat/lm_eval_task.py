"""A task of lm-eval whose answers may be as long as its rows say; a YAML file names it by the key `class`.

A public way would be a key of task files for the length of an answer that depends on the model's context.
"""

from collections.abc import Mapping
from typing import Any

from lm_eval.api.task import ConfigurableTask


class LongAnswerTask(ConfigurableTask):  # type: ignore[misc]
    """A task that is configured by its file, but for the length of answers."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config={key: value for key, value in config.items() if key != "class"})
        self._usual = self.config.generation_kwargs["max_gen_toks"]

    def construct_requests(self, doc: dict[str, Any], ctx: str, **kwargs: Any) -> Any:
        """Make the requests as lm-eval does, with the length that the row allows, unless the run sets another."""
        request = super().construct_requests(doc, ctx, **kwargs)
        arguments = request.arguments[1]
        if arguments["max_gen_toks"] == self._usual:
            arguments["max_gen_toks"] = doc["answer_cap"] or self._usual
        return request
