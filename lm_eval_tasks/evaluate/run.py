"""`academiceval eval`: thin over lm-eval's simple_evaluate; answers are journaled, scores come with intervals and floors."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lm_eval.api.model import LM

from lm_eval_tasks.base.errors import NoScoreError
from lm_eval_tasks.base.files import exclusive
from lm_eval_tasks.base.journal import Journal
from lm_eval_tasks.base.metadata import text_or_none
from lm_eval_tasks.compat import lm_eval as command_line
from lm_eval_tasks.compat.run_tasks import RunTasks
from lm_eval_tasks.compat.vllm import EngineSettings, settings_of
from lm_eval_tasks.data import cutoff
from lm_eval_tasks.evaluate.answers import AnsweringLM
from lm_eval_tasks.evaluate.identity import identity_of
from lm_eval_tasks.evaluate.models import check_chat_template, made_with, open_model
from lm_eval_tasks.evaluate.run_plan import RunPlan
from lm_eval_tasks.evaluate.shorter import in_contexts, numbers_of, of_round, write_tasks
from lm_eval_tasks.llm.addresses import check_address
from lm_eval_tasks.llm.ledger import Purse
from lm_eval_tasks.llm.usage import Usage
from lm_eval_tasks.llm.weights import pinned, weights_of
from lm_eval_tasks.samples.block import RunRequest, Score
from lm_eval_tasks.samples.results import JOURNAL, Results
from lm_eval_tasks.samples.run_folder import check_output, write_run
from lm_eval_tasks.samples.sample import USAGE, Logged, Sample, compact
from lm_eval_tasks.stats.scores import Samples, block_of, scores_of
from lm_eval_tasks.tasks.catalogue import expanded, tasks_path

_LOGGER = logging.getLogger(__name__)
_SEEDS = ("random_seed", "numpy_random_seed", "torch_random_seed", "fewshot_random_seed")


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run whose model is open.

    Attributes:
        plan: with what the open model says of itself.
        names: of the tasks, as lm-eval finds them in `folders`.
        weights: what identifies the model's weights.
        settings: of the engine; None if it does not run in this process.
        earlier: the results in the output folder that this run replaces.
    """

    plan: RunPlan
    names: Sequence[str]
    folders: Sequence[Path]
    weights: Mapping[str, str]
    model: LM
    settings: EngineSettings | None
    earlier: Results | None


def evaluate(plan: RunPlan) -> list[Score]:
    """Evaluate a model or baseline and return its scores.

    Raises:
        EvalError: a model that cannot be opened or gives up, a cost that is too high, another run that writes to the
            same folder; what the families' `load` raises.
    """
    output = plan.output
    command_line.quiet()
    with exclusive(output / JOURNAL) if output else nullcontext(), TemporaryDirectory() as folder:
        run = _open(plan, Path(folder))
        lm = _answering(run)
        results = _ask(run, lm)
        logged = _answered(results.pop("samples"), plan.label)
        samples = {task: [Sample.of_logged(line) for line in lines] for task, lines in logged.items()}
        _warn_of_unfinished(samples, plan.label)
        scores = _scores(samples, plan.label)
        if output is not None:
            request = _request(run, lm)
            made = made_with(run.model, run.settings, run.plan.generation, run.plan.task_metadata)
            block = block_of(samples, request, scores, lm.usage(plan.means), made)
            kept = {task: map(compact, lines) for task, lines in logged.items()}
            write_run(kept, results, block, plan.label, output)
    return scores


def _open(plan: RunPlan, folder: Path) -> OpenRun:
    """Open the model; the files of tasks that have none of their own are written into `folder`."""
    names: Sequence[str] = of_round(plan.tasks, plan.metadata, plan.why_no_likelihood)
    if plan.contexts:
        asked = in_contexts(names, plan.contexts)
        write_tasks(asked, folder)
        names = [task.name for task in asked]
        if plan.selection.samples:
            numbers = numbers_of(plan.selection.samples, asked)
            plan = replace(plan, selection=replace(plan.selection, samples=numbers))
    weights = weights_of(plan.model, plan.model_args)
    earlier = check_output(plan.output, plan.label, expanded(names)) if plan.output else None
    model = open_model(plan.model, pinned(plan.opening_args, weights), plan.generation)
    check_chat_template(model, plan.model, plan.generation)
    settings = settings_of(model)
    if settings:
        plan = replace(plan, engine_length=settings.max_model_len)
    return OpenRun(plan, names, (tasks_path(), folder), weights, model, settings, earlier)


def _answering(run: OpenRun) -> AnsweringLM:
    """Let the model's answers be looked up in the journal of the run, and noted there."""
    plan = run.plan
    file = plan.output / JOURNAL if plan.output else None
    check_address(file, plan.address)
    journal = Journal(file, extra=USAGE)
    purse = Purse.of(journal, plan.means, lambda: map(Usage.of_json, journal.extras_of()))
    before = len((plan.generation.system_instruction or "").encode())
    return AnsweringLM(
        run.model,
        identity_of(plan.model, plan.model_args, run.weights, plan.generation),
        journal,
        replace(purse, before=before),
        repeated=plan.generation.repeats > 1,
        once=plan.is_language_model,
    )


def _ask(run: OpenRun, lm: AnsweringLM) -> dict[str, Any]:
    """Ask all prompts by lm-eval; return its results."""
    from lm_eval.evaluator import simple_evaluate

    plan, generation, selection = run.plan, run.plan.generation, run.plan.selection
    metadata, reasoning = plan.task_metadata, plan.reasoning_tokens
    manager = RunTasks(
        run.folders,
        metadata,
        reasoning_tokens=reasoning,
        repeats=generation.repeats,
        samples=selection.samples,
        members=expanded(run.names),
    )
    gen_kwargs = command_line.parse_args(generation.gen_kwargs)
    if reasoning and isinstance(gen_kwargs.get("max_gen_toks"), int):
        gen_kwargs["max_gen_toks"] += reasoning
    seeds = dict(zip(_SEEDS, generation.seeds, strict=True)) if generation.seeds else {}
    results = simple_evaluate(
        model=lm,
        tasks=list(run.names),
        task_manager=manager,
        limit=selection.limit,
        samples=dict(selection.samples) if selection.samples else None,
        log_samples=True,
        metadata=metadata,
        apply_chat_template=generation.apply_chat_template,
        system_instruction=generation.system_instruction,
        gen_kwargs=gen_kwargs or None,
        bootstrap_iters=0,
        **seeds,
    )
    if len(lm.served) > 1:
        _LOGGER.warning("the server answered as several models (%s); results name them", ", ".join(lm.served))
    return dict(results)


def _request(run: OpenRun, lm: AnsweringLM) -> RunRequest:
    """Tell how the run was asked for, and by which model as far as the server or an earlier run says it."""
    plan = run.plan
    known = text_or_none(plan.metadata.get("model_cutoff")) or cutoff.of_model(plan.model_args, lm.served)
    # Where nothing was asked, all answers are those of the earlier run.
    before = run.earlier.run if run.earlier and not lm.asked else None
    return replace(
        plan.request(run.weights),
        model_cutoff=known or (before.model_cutoff if before else None),
        served_as=tuple(lm.served) or (before.served_as if before else None),
    )


def _answered(logged: Mapping[str, Sequence[Logged]], label: str) -> dict[str, list[Logged]]:
    """Take of each task its rows that the model has an answer to, wanted or not; tasks without any are left out with a warning."""
    answered: dict[str, list[Logged]] = {}
    for task, lines in logged.items():
        with_answer = list(filter(_has_answer, lines))
        if with_answer:
            answered[task] = with_answer
        else:
            _LOGGER.warning("%s has no score on %s: it has no answer to such prompts", label, task)
    return answered


def _has_answer(line: Logged) -> bool:
    sample = Sample.of_logged(line)
    return bool(sample.scores or sample.failed)


def _warn_of_unfinished(samples: Samples, label: str) -> None:
    every: Iterable[Sample] = [sample for of_task in samples.values() for sample in of_task]
    if every and all(sample.scores.get("unfinished") == 1 for sample in every):
        _LOGGER.warning(
            "all answers of %s end before their reasoning does, so none has a text: give it more room with --metadata "
            "'{\"reasoning_tokens\": 8192}'",
            label,
        )


def _scores(samples: Samples, label: str) -> list[Score]:
    scores = scores_of(samples, label)
    if not scores:
        raise NoScoreError(
            f"{label} has no score on any of these tasks: it answers no such prompt, or needs training papers that this round lacks; "
            "docs/evaluate.md says what each baseline answers"
        )
    return scores
