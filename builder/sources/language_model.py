"""A language model behind an OpenAI-compatible server, asked one question at a time."""

from __future__ import annotations

import os

from builder.errors import SourceError


class LanguageModel:
    """One model at one server.

    Args:
        base_url: of the server; a server of your own needs no key, others take OPENAI_API_KEY.
    """

    def __init__(self, base_url: str, model: str) -> None:
        import openai

        self._openai, self._model, self._url = openai, model, base_url
        self._client = openai.OpenAI(base_url=base_url, api_key=os.environ.get("OPENAI_API_KEY") or "none")

    def __str__(self) -> str:
        return f"the annotator {self._model!r} at {self._url}"

    def answer(self, prompt: str, most_tokens: int) -> str:
        """The model's most likely answer.

        Raises:
            SourceError: the server cannot be reached, or refuses.
        """
        try:
            reply = self._client.chat.completions.create(
                model=self._model, messages=[{"role": "user", "content": prompt}], temperature=0, max_tokens=most_tokens
            )
        except self._openai.OpenAIError as err:
            raise SourceError(f"{self} cannot be asked: {err}") from err
        return reply.choices[0].message.content or ""
