"""What an evaluation is asked for, as one record that is handed down, checked before anything large is loaded."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Self

from lm_eval_tasks.base.contract import EMBED_LOCAL, FULL, GIVEN, LIKELIHOOD, Context
from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.metadata import check, dataset_of
from lm_eval_tasks.compat.likelihoods import MODEL_TYPES, OF_VLLM
from lm_eval_tasks.compat.lm_eval import parse_args
from lm_eval_tasks.compat.lm_eval_answers import OMIT
from lm_eval_tasks.compat.lm_eval_command import max_gen_toks
from lm_eval_tasks.data.options import Options
from lm_eval_tasks.evaluate.generation import Generation
from lm_eval_tasks.evaluate.identity import label_of
from lm_eval_tasks.evaluate.model_requests import NAMES_OF_CAP
from lm_eval_tasks.families.compressors import PPMD
from lm_eval_tasks.families.registry import BASELINES
from lm_eval_tasks.llm.served_length import ENGINE_LENGTH
from lm_eval_tasks.llm.usage import Means
from lm_eval_tasks.llm.weights import asks_server
from lm_eval_tasks.samples.block import RunRequest
from lm_eval_tasks.tasks.catalogue import check_tasks, tasks_of


def about_answers(repeats: int, reasoning_tokens: int) -> str:
    """Return the option that says how answers are given; "" if there is none."""
    if repeats > 1:
        return "--repeats"
    return "reasoning_tokens" if reasoning_tokens else ""


@dataclass(frozen=True, slots=True)
class SampleSelection:
    """Which samples a run answers, as lm-eval's options of the same names.

    Attributes:
        limit: this many samples of each task, or if the number is below 1, that share of them.
        samples: task -> numbers of its samples.
    """

    limit: float | None = None
    samples: Mapping[str, Sequence[int]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """An evaluation of one model.

    Attributes:
        model: a baseline's name or one of lm-eval's model types.
        model_args: of the model, as `lm_eval --model_args` gives them.
        tasks: names of tasks, groups and tags.
        metadata: as lm-eval's --metadata.
        contexts: in which each task is asked, as far as it has them; () for the full one alone.
        output: folder for results, samples and the journal of answers, from which a killed run resumes; None for none.
        engine_length: tokens that an engine in this process reads, once it is open.
    """

    model: str
    model_args: Mapping[str, object] = field(default_factory=dict)
    tasks: tuple[str, ...]
    metadata: Mapping[str, object] = field(default_factory=dict)
    contexts: tuple[Context, ...] = ()
    selection: SampleSelection = SampleSelection()
    generation: Generation = field(default_factory=Generation)
    means: Means = field(default_factory=Means)
    output: Path | None = None
    engine_length: int | None = None

    @classmethod
    def of(cls, *, model: str, model_args: str = "", metadata: Mapping[str, object], **others: object) -> Self:
        """Make a plan of what was typed.

        Raises:
            EvalError: something in it cannot be asked.
        """
        context = Options.of(metadata).context
        # Tasks with less to read have names of their own.
        named = {key: value for key, value in metadata.items() if key != "context"}
        plan = cls(model=model, model_args=parse_args(model_args), metadata=named, **others)  # type: ignore[arg-type]
        if context != FULL and plan.contexts:
            raise EvalError(
                f"--contexts and the option context={context!r} both say how much is shown: give one of them"
            )
        if context != FULL:
            plan = replace(plan, contexts=(context,))
        plan._check()
        return plan

    def _check(self) -> None:
        check_tasks(self.tasks)
        check(self.metadata)
        reads = [task for name in self.by_likelihood for task in tasks_of(name)]
        asked = [task for name in self.tasks for task in tasks_of(name)]
        if self.is_baseline and any(shown != FULL for shown in self.contexts) and len(reads) < len(asked):
            raise EvalError(
                f"{self.model} does not read the prompt, so that a shorter context makes no difference: leave it out"
            )
        self._check_selection()
        self._check_generation()
        self._check_likelihood()
        self.means.check()

    def _check_selection(self) -> None:
        limit, samples = self.selection.limit, self.selection.samples
        shard, chooses = self.metadata.get("shard"), limit is not None or bool(samples)
        if shard and chooses:
            raise EvalError("--shard divides all samples: leave out --limit and --samples, or run without shards")
        if self.metadata.get("fits_only") and (shard or chooses):
            raise EvalError("--fits-only chooses the samples itself: leave out --shard, --limit and --samples")
        if samples and limit is not None:
            raise EvalError("--samples and --limit both say which samples to answer: give one of them")

    def _check_generation(self) -> None:
        arguments = parse_args(self.generation.gen_kwargs)
        if self.generation.repeats > 1 and not arguments.get("do_sample"):
            raise EvalError(
                "--repeats asks each prompt several times, which shows something only if the model samples: add "
                "--gen_kwargs do_sample=true,temperature=0.7 or the like"
            )
        omitted = [key for key, value in arguments.items() if value == OMIT]
        if omitted and not asks_server(self.model):
            raise EvalError(
                f"--gen_kwargs {omitted[0]}={OMIT} leaves a parameter out of requests to a server; this model has none"
            )
        for name in (*NAMES_OF_CAP, "n"):
            longest = arguments.get(name)
            if longest not in (None, OMIT) and (type(longest) is not int or longest < 1):
                raise EvalError(f"--gen_kwargs {name}={longest!r:.40} is not a whole number of at least 1")
        if self.model == "local-chat-completions" and not self.generation.apply_chat_template:
            raise EvalError("the model type local-chat-completions is sent chat messages: add --apply_chat_template")

    @property
    def by_likelihood(self) -> tuple[str, ...]:
        """The names among `tasks` that are asked by likelihood."""
        return tuple(name for name in self.tasks if any(task.way == LIKELIHOOD for task in tasks_of(name)))

    @property
    def _about_answers(self) -> str:
        return about_answers(self.generation.repeats, self.reasoning_tokens)

    @property
    def why_no_likelihood(self) -> str:
        """Why the core asks no likelihood of the model; "" if it does."""
        if self._about_answers:
            return f"{self._about_answers} is about answers"
        if self.model in ("vllm", "local-completions"):
            # Questions of the core want a cache of prefixes, at whose positions likelihoods can be stale; not all servers tell them.
            return f"the model type {self.model} is asked for likelihoods in a run of its own"
        return "" if self.model in (*MODEL_TYPES, PPMD) else f"the model type {self.model} does not tell them"

    def _check_likelihood(self) -> None:
        names = ", ".join(self.by_likelihood)
        if not names:
            return
        if not self.is_baseline and self.model not in MODEL_TYPES:
            raise EvalError(
                f"{names}: the model type {self.model} does not tell how likely a given text is; those that do are {', '.join(MODEL_TYPES)}"
            )
        if self._about_answers:
            raise EvalError(
                f"{self._about_answers} is about answers, and {names} ask for none: leave one of the two out"
            )

    @property
    def opening_args(self) -> Mapping[str, object]:
        """The model's arguments, with what its engine needs for likelihoods if the user does not say otherwise."""
        is_vllm = self.model == "vllm" and bool(self.by_likelihood)
        return {**OF_VLLM, **self.model_args} if is_vllm else self.model_args

    @property
    def address(self) -> str:
        """Of the model's server; "" for a model that has none."""
        return str(self.model_args.get("base_url") or "")

    @property
    def is_baseline(self) -> bool:
        return self.model in BASELINES

    @property
    def is_language_model(self) -> bool:
        """Whether equal prompts have equal answers, if it does not sample."""
        return self.model not in (*BASELINES, GIVEN)

    @property
    def label(self) -> str:
        """What the model is called in tables and file names."""
        return label_of(self.model, self.model_args)

    @property
    def task_metadata(self) -> dict[str, object]:
        """What the tasks are loaded with: the metadata, the model's arguments, and what of the run decides about prompts."""
        generation = self.generation
        metadata = {
            **self.metadata,
            **self.model_args,
            "apply_chat_template": generation.apply_chat_template,
            "whole_answers": True,
        }
        reserve = max_gen_toks(generation.gen_kwargs)
        if reserve is not None:
            metadata["reserve"] = reserve
        if generation.system_instruction:
            metadata["system_instruction"] = generation.system_instruction
        if self.is_baseline:
            metadata["keep_parts"] = True
        if self.model == EMBED_LOCAL:
            metadata["embed_local"] = True
        if self.engine_length is not None:
            metadata[ENGINE_LENGTH] = self.engine_length
        return metadata

    @property
    def reasoning_tokens(self) -> int:
        return int(Options.of(self.task_metadata).reasoning_tokens)

    def request(self, weights: Mapping[str, str]) -> RunRequest:
        """Tell results how the run was asked for, with what identifies the model's weights."""
        return RunRequest(
            model=self.model,
            tasks=self.tasks,
            contexts=tuple(self.contexts),
            model_args=self.model_args,
            metadata={**self.metadata, "dataset": dataset_of(self.task_metadata)},
            weights=weights,
            **asdict(self.generation),
            **asdict(self.selection),
        )
