"""What a user may ask of the tasks through lm-eval's --metadata, checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from lm_eval_tasks import families
from lm_eval_tasks.base import metadata
from lm_eval_tasks.base.contract import FULL, Context
from lm_eval_tasks.base.errors import OptionError
from lm_eval_tasks.base.metadata import Cut, Shard, Similarity
from lm_eval_tasks.compat import lm_eval_command as command_line

if TYPE_CHECKING:
    from lm_eval_tasks.retrieval.retrieve import Retrieval


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run; docs/options.md lists each.

    Attributes:
        split: of the dataset, or "all" for all three together.
        shard: the part of the samples that this run answers; None for all.
        context: how much of what it shows each task is asked with.
        fits_only: whether prompts that do not fit the model's context are left out instead of being cut.
        reserve: tokens that the context leaves for the answer; None for what the task sets.
        reasoning_tokens: room for reasoning on top of the answer's.
        chat: whether prompts go through the model's chat template.
        sees_marks: whether prompts go through the model's chat template, and reasoning that is not in an answer was never there.
        think_end: the mark that ends the model's reasoning, as the user names it; "" without one, or if lm-eval may have taken it off.
        system_instruction: the system prompt that lm-eval will put before ours.
        metrics: which ones lm-eval prints, "headline" or "all"; samples contain all.
        embed_local: whether the shortcut of that name is computed for SCALAR's questions; it takes a model.
        model_cutoff: the month up to which the model was trained, "YYYY-MM"; None if it is not known.
    """

    dataset: str
    dataset_revision: str | None
    round: str | None
    split: str
    published_after: str | None
    published_before: str | None
    shard: Shard | None
    config: str | None
    context: Context
    bertscore_model: str | None
    keep_parts: bool
    embed_local: bool
    cut: Cut
    fits_only: bool
    reserve: int | None
    reasoning_tokens: int
    chat: bool
    sees_marks: bool
    think_end: str
    system_instruction: str
    model_cutoff: str | None
    retriever: str | None
    similarity: Similarity
    chunk_size: int | None
    chunk_overlap: int | None
    chunks: int | None
    metrics: str

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        """Read lm-eval's --model_args and --metadata together; other keys are the model's. An OptionError if a value cannot be used."""
        run = command_line.run_arguments()
        metadata.check_keys(run.metadata, others=True)
        values = metadata.values(arguments)
        # `academiceval eval` sees answers with their reasoning; else lm-eval may have taken it off, or a server out of sight.
        whole_answers = bool(arguments.get("whole_answers"))
        think_end = str(arguments.get("think_end_token") or "")
        # lm-eval takes reasoning off itself if its end is given as a token's number.
        sees_end = whole_answers and not think_end.isdigit()
        is_local = bool(arguments.get("pretrained")) and not arguments.get("base_url")
        sees_reasoning = sees_end or (is_local and not think_end)
        chat = bool(arguments.get("apply_chat_template", run.apply_chat_template))
        reasoning = values.pop("reasoning_tokens") or 0
        if reasoning and not whole_answers and run.max_gen_toks is None and command_line.is_lm_eval():
            raise OptionError(
                "lm_eval cannot lengthen answers by reasoning_tokens: give it --gen_kwargs max_gen_toks=... with room for both, or "
                "use `academiceval eval`"
            )
        return cls(
            dataset=metadata.dataset_of(arguments),
            reasoning_tokens=reasoning,
            chat=chat,
            sees_marks=sees_reasoning and chat,
            think_end=think_end if sees_end else "",
            reserve=values.pop("reserve") or run.max_gen_toks,
            system_instruction=str(arguments.get("system_instruction") or run.system_instruction),
            **values,
        )

    @property
    def retrieval(self) -> "Retrieval":
        """What retrieves, and how texts are cut into chunks; an OptionError if the chunks cannot be so."""
        from lm_eval_tasks.retrieval.retrieve import Chunking, Retrieval

        given = {"size": self.chunk_size, "overlap": self.chunk_overlap, "top": self.chunks}
        return Retrieval(
            self.retriever or "",
            self.similarity,
            Chunking(**{name: value for name, value in given.items() if value is not None}),
        )

    def context_of(self, always: Context | None, name: str) -> Context:
        """Return how much of what it shows a task is asked with: what it always says itself, else what the option says; an OptionError if
        the built-in configuration of this name is not asked so.
        """
        context = always or self.context
        if context == FULL:
            return context
        shorter = families.shorter_of(name)
        if context not in shorter:
            raise OptionError(f"{name} is not asked with context={context!r}; choose {', '.join((*shorter, FULL))}")
        return context


def noted(context: Context) -> str:
    """Return `PromptRow.shown` for a context."""
    return "" if context == FULL else context
