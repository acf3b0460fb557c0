"""A prompt on its way to a model: the row that it asks, the key of its answer in the journal, and the most that it can take."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lm_eval.api.instance import Instance

from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.llm.usage import Usage, most_tokens
from lm_eval_tasks.samples.prompt_row import PromptRow

# What servers call the most tokens of an answer.
NAMES_OF_CAP = ("max_gen_toks", "max_tokens", "max_completion_tokens", "max_new_tokens")


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """A request, the row that it asks, and the key of its answer in the journal."""

    key: str
    request: Instance
    row: PromptRow

    @property
    def digest(self) -> str:
        prompt, arguments = self.request.args
        return digest_of(str(prompt), arguments)

    @property
    def samples(self) -> bool:
        arguments = self.request.args[1]
        return bool(arguments.get("do_sample") or arguments.get("temperature"))

    @property
    def most(self) -> Usage:
        prompt, arguments = self.request.args
        prompt_tokens = self.row.tokens_after if self.row.tokens_before else None
        given = (arguments.get(name) for name in NAMES_OF_CAP)
        # A server may be asked for several answers.
        cap = max((value for value in given if isinstance(value, int)), default=0) or self.row.answer_cap
        return most_tokens(str(prompt), prompt_tokens, cap * int(arguments.get("n") or 1))


def digest_of(*content: object) -> str:
    """Hash what tells one request from another."""
    return sha256_of_bytes(json.dumps(content, sort_keys=True, default=str))


def requests_of(requests: Sequence[Instance], identity: str) -> Iterator[PromptRequest]:
    """Give the requests their keys; one that is repeated has a key for each time."""
    seen: Counter[str] = Counter()
    for request in requests:
        key = key_of(request, identity)
        seen[key] += 1
        unique_key = key if seen[key] == 1 else sha256_of_bytes(f"{key} {seen[key]}")
        yield PromptRequest(unique_key, request, PromptRow.of_doc(request.doc))


def key_of(request: Instance, identity: str) -> str:
    """Hash sample, prompt, model and generation arguments."""
    prompt, arguments = request.args
    return digest_of(request.task_name, request.doc["id"], str(prompt), arguments, identity)
