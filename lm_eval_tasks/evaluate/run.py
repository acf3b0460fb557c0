"""`academiceval eval`: thin over lm-eval's simple_evaluate; answers are journaled, scores come with intervals and floors."""

import logging
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lm_eval.api.model import LM

from lm_eval_tasks.base.contract import EMBED_LOCAL, FULL, Context
from lm_eval_tasks.base.errors import EvalError, NoScoreError
from lm_eval_tasks.base.files import exclusive
from lm_eval_tasks.base.journal import Journal
from lm_eval_tasks.base.metadata import check, dataset_of, text_or_none
from lm_eval_tasks.compat import lm_eval as command_line
from lm_eval_tasks.compat.lm_eval_answers import OMIT
from lm_eval_tasks.compat.lm_eval_command import max_gen_toks
from lm_eval_tasks.compat.run_tasks import RunTasks
from lm_eval_tasks.compat.vllm import settings_of
from lm_eval_tasks.data import cutoff, options
from lm_eval_tasks.evaluate.answers import AnsweringLM
from lm_eval_tasks.evaluate.generation import Generation
from lm_eval_tasks.evaluate.models import check_chat_template, identity_of, label_of, made_with, open_model
from lm_eval_tasks.evaluate.shorter import in_contexts, of_round, places_of, write_tasks
from lm_eval_tasks.families.registry import BASELINES
from lm_eval_tasks.llm.served_length import ENGINE_LENGTH
from lm_eval_tasks.llm.usage import Means, Usage
from lm_eval_tasks.llm.weights import asks_server, pinned, weights_of
from lm_eval_tasks.samples.block import RunRequest, Score
from lm_eval_tasks.samples.results import JOURNAL
from lm_eval_tasks.samples.run_folder import check_output, write_run
from lm_eval_tasks.samples.sample import USAGE, Logged, Sample, compact
from lm_eval_tasks.stats.scores import Samples, block_of, scores_of
from lm_eval_tasks.tasks.catalogue import check_tasks, expanded, tasks_path

_LOGGER = logging.getLogger(__name__)
_SEEDS = ("random_seed", "numpy_random_seed", "torch_random_seed", "fewshot_random_seed")


@dataclass(frozen=True, slots=True)
class SampleSelection:
    """Which samples a run answers, as lm-eval's options of the same names.

    Attributes:
        limit: this many samples of each task, or if the number is below 1, that share of them.
        samples: task -> places of its samples.
    """

    limit: float | None = None
    samples: Mapping[str, Sequence[int]] | None = None


def evaluate(
    model: str,
    model_args: str,
    tasks: Sequence[str],
    metadata: Mapping[str, object],
    part: SampleSelection | None,
    output: Path | None,
    generation: Generation | None = None,
    means: Means | None = None,
    contexts: Sequence[Context] = (),
) -> list[Score]:
    """Evaluate a model or baseline and return its scores.

    Args:
        model: a baseline's name or one of lm-eval's model types.
        model_args: lm-eval's "key=value,..." for its own model types.
        metadata: as lm-eval's --metadata.
        output: folder for results, samples and the journal of answers, from which a killed run resumes.
        contexts: in which each task is asked, as far as it has them; () for what the metadata say.

    Raises:
        EvalError: an unknown task, a model that cannot be opened or gives up, a cost that is too high, another run that writes to the
            same folder; what the families' `load` raises.
    """
    check_tasks(tasks)
    contexts, metadata = _contexts(model, contexts, metadata)
    typed = RunRequest(model=model, tasks=tuple(tasks), contexts=tuple(contexts), **asdict(part or SampleSelection()))
    tasks = of_round(tasks, metadata)
    asked = in_contexts(tasks, contexts) if contexts else []
    if part and part.samples:
        part = replace(part, samples=places_of(part.samples, asked))
    with exclusive(output / JOURNAL) if output else nullcontext(), TemporaryDirectory() as folder:
        write_tasks(asked, Path(folder))
        return _evaluate(
            typed,
            model_args,
            [task.name for task in asked] or tasks,
            metadata,
            part or SampleSelection(),
            output,
            generation or Generation(),
            means or Means(),
            (tasks_path(), Path(folder)),
        )


def _contexts(
    model: str, contexts: Sequence[Context], metadata: Mapping[str, object]
) -> tuple[Sequence[Context], dict[str, object]]:
    """The contexts that are asked, () for the full one alone, and the metadata without that option: tasks with less to read have names
    of their own.
    """
    context = options.Options.of(metadata).context
    if context != FULL and contexts:
        raise EvalError(f"--contexts and the option context={context!r} both say how much is shown: give one of them")
    contexts = contexts or ((context,) if context != FULL else ())
    if model in BASELINES and any(shown != FULL for shown in contexts):
        raise EvalError(
            f"{model} does not read the prompt, so that a shorter context makes no difference: leave it out"
        )
    return contexts, {key: value for key, value in metadata.items() if key != "context"}


def _evaluate(
    typed: RunRequest,
    model_args: str,
    tasks: Sequence[str],
    metadata: Mapping[str, object],
    part: SampleSelection,
    output: Path | None,
    generation: Generation,
    means: Means,
    folders: Sequence[Path],
) -> list[Score]:
    check(metadata)
    command_line.quiet()
    model = typed.model
    parsed = command_line.parse_args(model_args)
    task_metadata = {
        **metadata,
        **parsed,
        "apply_chat_template": generation.apply_chat_template,
        "whole_answers": True,
        **({} if (reserve := max_gen_toks(generation.gen_kwargs)) is None else {"reserve": reserve}),
        **({"system_instruction": generation.system_instruction} if generation.system_instruction else {}),
        **({"keep_parts": True} if model in BASELINES else {}),
        **({"embed_local": True} if model == EMBED_LOCAL else {}),
    }
    reasoning = int(options.Options.of(task_metadata).reasoning_tokens)
    label = label_of(model, parsed)
    _check(model, metadata, part, generation, means)
    weights = weights_of(model, parsed)
    run = replace(
        typed,
        model_args=parsed,
        metadata={**metadata, "dataset": dataset_of(task_metadata)},
        **asdict(generation),
        weights=weights,
    )
    earlier = check_output(output, label, expanded(tasks)) if output else None
    journal = Journal(output / JOURNAL if output else None, extra=USAGE)
    opened = open_model(model, pinned(parsed, weights), generation)
    check_chat_template(opened, model, generation)
    if settings := settings_of(opened):
        task_metadata[ENGINE_LENGTH] = settings.max_model_len
    manager = RunTasks(folders, task_metadata, reasoning, generation.repeats, part.samples, expanded(tasks))
    budget = means.budget(map(Usage.of_json, journal.extras_of()))
    identity = identity_of(model, parsed, weights, generation)
    lm = AnsweringLM(opened, identity, journal, budget, repeated=generation.repeats > 1, once=model not in BASELINES)
    results = _run(lm, tasks, manager, part, task_metadata, generation, reasoning)
    if len(lm.served) > 1:
        _LOGGER.warning("the server answered as several models (%s); results name them", ", ".join(lm.served))
    logged = _answered(results.pop("samples"), label)
    samples = {task: [Sample.of_logged(line) for line in lines] for task, lines in logged.items()}
    scores = _score_samples(samples, label)
    if output is not None:
        known = text_or_none(metadata.get("model_cutoff")) or cutoff.of_model(parsed, lm.served)
        # Where nothing was asked, all answers are those of the earlier run.
        before = earlier.run if earlier and not lm.asked else None
        run = replace(
            run,
            model_cutoff=known or (before.model_cutoff if before else None),
            served_as=tuple(lm.served) or (before.served_as if before else None),
        )
        block = block_of(samples, run, scores, lm.usage(means), made_with(opened, settings, generation, task_metadata))
        write_run({task: map(compact, lines) for task, lines in logged.items()}, results, block, label, output)
    return scores


def _answered(logged: Mapping[str, Sequence[Logged]], label: str) -> dict[str, list[Logged]]:
    """Task -> its rows that the model has an answer to, wanted or not; tasks without any are left out with a warning."""
    answered: dict[str, list[Logged]] = {}
    for task, lines in logged.items():
        with_answer = [line for line in lines if (sample := Sample.of_logged(line)).scores or sample.failed]
        if with_answer:
            answered[task] = with_answer
        else:
            _LOGGER.warning("%s has no score on %s: it has no answer to such prompts", label, task)
    return answered


def _score_samples(samples: Samples, label: str) -> list[Score]:
    flags = [sample.scores.get("unfinished") for of_task in samples.values() for sample in of_task]
    if flags and all(flags):
        _LOGGER.warning(
            "all answers of %s end before their reasoning does, so none has a text: give it more room with --metadata "
            "'{\"reasoning_tokens\": 8192}'",
            label,
        )
    scores = scores_of(samples, label)
    if not scores:
        raise NoScoreError(
            f"{label} has no score on any of these tasks: it answers no such prompt, or needs training papers that this round lacks; "
            "docs/evaluate.md says what each baseline answers"
        )
    return scores


def _check(
    model: str, metadata: Mapping[str, Any], part: SampleSelection, generation: Generation, means: Means
) -> None:
    """Raise an EvalError for mistakes that can be found before anything is loaded."""
    parsed = command_line.parse_args(generation.gen_kwargs)
    if metadata.get("shard") and (part.limit is not None or part.samples):
        raise EvalError("--shard divides all samples: leave out --limit and --samples, or run without shards")
    if metadata.get("fits_only") and (metadata.get("shard") or part.limit is not None or part.samples):
        raise EvalError("--fits-only chooses the samples itself: leave out --shard, --limit and --samples")
    if part.samples and part.limit is not None:
        raise EvalError("--samples and --limit both say which samples to answer: give one of them")
    if generation.repeats > 1 and not parsed.get("do_sample"):
        raise EvalError(
            "--repeats asks each prompt several times, which shows something only if the model samples: add "
            "--gen_kwargs do_sample=true,temperature=0.7 or the like"
        )
    if not asks_server(model) and (omitted := [key for key, value in parsed.items() if value == OMIT]):
        raise EvalError(
            f"--gen_kwargs {omitted[0]}={OMIT} leaves a parameter out of requests to a server; this model has none"
        )
    longest = parsed.get("max_gen_toks")
    if longest is not None and (type(longest) is not int or longest < 1):
        raise EvalError(f"--gen_kwargs max_gen_toks={longest!r:.40} is not a whole number of tokens of at least 1")
    means.check()
    if model == "local-chat-completions" and not generation.apply_chat_template:
        raise EvalError("the model type local-chat-completions is sent chat messages: add --apply_chat_template")


def _run(
    lm: LM,
    tasks: Sequence[str],
    manager: RunTasks,
    part: SampleSelection,
    task_metadata: Mapping[str, object],
    generation: Generation,
    reasoning: int,
) -> dict[str, Any]:
    from lm_eval.evaluator import simple_evaluate

    gen_kwargs = command_line.parse_args(generation.gen_kwargs)
    if reasoning and "max_gen_toks" in gen_kwargs:
        gen_kwargs["max_gen_toks"] += reasoning
    return dict(
        simple_evaluate(
            model=lm,
            tasks=list(tasks),
            task_manager=manager,
            limit=part.limit,
            samples=dict(part.samples) if part.samples else None,
            log_samples=True,
            metadata=task_metadata,
            apply_chat_template=generation.apply_chat_template,
            system_instruction=generation.system_instruction,
            gen_kwargs=gen_kwargs or None,
            bootstrap_iters=0,
            **(dict(zip(_SEEDS, generation.seeds, strict=True)) if generation.seeds else {}),
        )
    )
