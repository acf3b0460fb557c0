"""A language model behind an OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from builder.errors import SourceError
from lm_eval_tasks.base.errors import ServerError
from lm_eval_tasks.llm import chat

_CONCURRENT = 8


def ask(
    base_url: str, model: str, prompts: Mapping[str, str], most_tokens: int, note: Callable[[str, str], None]
) -> None:
    """Ask for the model's most likely answer to every prompt; each is handed to `note` with its prompt's key at once.

    Args:
        base_url: of the server; your own server needs no key, others take OPENAI_API_KEY.

    Raises:
        SourceError: the server cannot be reached, or some prompts got no answer; all answers were handed over.
    """
    failed: list[str] = []

    async def answer(ask: chat.Ask, key: str) -> str | None:
        try:
            return (await ask([{"role": "user", "content": prompts[key]}], most_tokens, chat.GREEDY)).text
        except chat.NoAnswer as err:
            failed.append(str(err))
            return None

    def hand_over(key: str, text: str | None) -> None:
        if text is not None:
            note(key, text)

    server = chat.Server(model, base_url)
    try:
        chat.ask_all(server, prompts, answer, hand_over, _CONCURRENT)
    except ServerError as err:
        raise SourceError(f"the annotator cannot be asked: {err}") from err
    if failed:
        raise SourceError(
            f"the annotator {server} did not answer {len(failed)} of {len(prompts)} questions, first: {failed[0]}; run the "
            "same command again, the other answers are kept"
        )
