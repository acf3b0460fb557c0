"""The hook that lm-eval calls for a task's data: dataset folder or Hub id -> rows with their prompts, cut to the model."""

import hashlib
import logging
import re
import statistics
from collections.abc import Sequence
from dataclasses import replace

import datasets

from lm_eval_tasks import prompts
from lm_eval_tasks.base.contract import GENERATED, LIKELIHOOD, NONE, OTHER, RETRIEVED, Context, Way
from lm_eval_tasks.base.errors import DatasetError, OptionError
from lm_eval_tasks.base.files import cache_folder
from lm_eval_tasks.base.metadata import NO_MODEL
from lm_eval_tasks.compat import lm_eval_command as command_line
from lm_eval_tasks.data import prompt_columns
from lm_eval_tasks.data.opened import Opened
from lm_eval_tasks.data.options import Options
from lm_eval_tasks.data.prompt_columns import TaskData
from lm_eval_tasks.data.round_folder import check_dataset, find_round
from lm_eval_tasks.families.score import others_of
from lm_eval_tasks.families.writing import FAMILY, beginnings, likelihood
from lm_eval_tasks.families.writing.settings import BEGINNINGS, QUERY, SETTINGS, prompt_name_of
from lm_eval_tasks.families.writing.writing_row import Chunk, WritingOwn, WritingRow
from lm_eval_tasks.samples.prompt_row import PromptRow

_LOGGER = logging.getLogger(__name__)
_FACTS = ("id", "published", "primary_category")
# Between two sentences.
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


@command_line.errors_end_the_process()
def load(
    setting: str,
    answer_tokens: int,
    size: int | None = None,
    shown: Context | None = None,
    way: Way = GENERATED,
    **arguments: object,
) -> dict[str, datasets.Dataset]:
    """Load a setting's test split with a `prompt` for every row; lm-eval's `custom_dataset`.

    Args:
        setting: the dataset's configuration, e.g. "Abs-29K-G".
        answer_tokens: tokens that the context must leave for the answer.
        size: of a sample that represents all rows; None for all of them.
        shown: with how much less a task always asks; None for what the option `context` says.
        way: how the rows are asked.
        arguments: all of --model_args and --metadata; `options.Options` and `window.of_model` say what is read.

    Raises:
        EvalError: the dataset or tokenizer is missing, a prompt cannot fit, the metric's model is missing, and so on.
            Under lm-eval's own command line, the process ends with that sentence instead.
    """
    options = Options.of(arguments)
    _check_config(setting, options)
    shown = options.context_of(shown, setting)
    name = prompt_name_of(setting, shown)
    query = prompt_name_of(setting, QUERY) if shown == RETRIEVED else None
    # Before the model: a command that is offered in its place must find the dataset.
    check_dataset(options.dataset)
    scorer = _scorer(options.bertscore_model if way == GENERATED else NO_MODEL)
    if query:
        from lm_eval_tasks.retrieval import retrieve

        retrieve.check(options.retrieval)
    data = TaskData.of(setting, options, arguments, answer_tokens=answer_tokens, shown=shown, way=way)
    shows_citations = any(repeated == "citation" for _, repeated in prompts.blocks(name))
    asked = data.asked(WritingRow, _FACTS, size, more=("citations",) if shows_citations else ())
    all_rows = list(asked.all)
    bodies = _bodies(data, all_rows, list(asked.selection.positions))
    # Always the same, however few of the rows a run asks for.
    near = others_of([row.id for row in all_rows])
    numbers, rows = list(bodies), [all_rows[number] for number in bodies]
    data.warn_of_cutoff(row.published for row in rows)
    shown_rows = _with_chunks([replace(all_rows[n], content=body) for n, body in bodies.items()], query, options)
    fitted = data.fit([prompts.slots(name, row) for row in shown_rows], [row.target.strip() for row in rows])
    common = {
        **data.shared_columns(name, FAMILY.version, asked),
        "bertscore_model": scorer,
        "retriever": options.retrieval.label if query else "",
    }
    lead_words = _median_words(data.opened)
    made = []
    for n, cut in fitted.items():
        row, number = rows[n], numbers[n]
        if way == LIKELIHOOD:
            words = 0 if shown == NONE else len(bodies[number].split())
            own = likelihood.own_of(row, cut.text, words=words)
        else:
            others = tuple(all_rows[i].target for i in near[number])
            own = _own(row, others, lead_words, keep_parts=options.keep_parts)
        made.append(
            PromptRow(
                **prompt_columns.of_paper(row, row.demonstrations),
                target=row.target,
                own=own,
                row_hash=prompt_columns.row_hash(row, FAMILY.version),
                **prompt_columns.of_prompt(cut),
                position=asked.selection.positions[number],
                **common,
            )
        )
    return prompt_columns.as_split(made)


def _bodies(data: TaskData, rows: Sequence[WritingRow], numbers: Sequence[int]) -> dict[int, str]:
    """Return the bodies that rows show, by their numbers: a beginning, or all of it without its exact target, which the reference removes
    for titles. Rows for which there is none in this context are left out.
    """
    if data.shown not in BEGINNINGS:
        return {number: beginnings.without(rows[number].content, rows[number].target) for number in numbers}
    pairs = OTHER in FAMILY.contexts_of(data.setting)
    bodies = beginnings.bodies_of(rows, numbers, data.shown, pairs=pairs)
    beginnings.tell_of_lonely(data.config, len(numbers) - len(bodies), len(numbers))
    if not bodies:
        raise DatasetError(
            f"{data.config}: each paper shares an author with all others, so that the context {OTHER!r} has nothing to show; leave it out"
        )
    return bodies


def _check_config(setting: str, options: Options) -> None:
    """Raise an OptionError if the configuration whose rows are asked is one of another task, whose rows the prompt would not fit."""
    tasks: dict[str, str] = {record.name: record.task for record in SETTINGS}
    config = options.config or setting
    if config not in tasks:
        own = find_round(options.dataset, options.dataset_revision)
        listed = own and own.manifest.find(config)
        tasks |= {config: listed.task} if listed else {}
    # What nobody says is taken for one of the same task.
    if tasks.get(config) not in (tasks[setting], None):
        raise OptionError(
            f"the option config={options.config!r} is a setting of another task than {setting}; ask it by a task of its own"
        )


def _own(row: WritingRow, others: tuple[str, ...], lead_words: int, *, keep_parts: bool) -> WritingOwn:
    own = WritingOwn(others=others)
    # As prompts show it, so that no program sees more than a model.
    content = beginnings.without(row.content, row.target)
    if lead_words:
        shuffled = sorted(
            enumerate(_SENTENCE.split(content)),
            key=lambda pair: hashlib.sha256(f"{row.id}|{pair[0]}".encode()).digest(),
        )
        sentences = " ".join(sentence for _, sentence in shuffled)
        lead, drawn = (" ".join(text.split()[:lead_words]) for text in (content, sentences))
        own = replace(own, lead=lead, sentences=drawn)
    if not keep_parts:
        return own
    outputs = tuple(shown.output for shown in row.demonstrations)
    return replace(own, content=content, demonstrations=outputs, lead_words=lead_words)


def _scorer(model: str | None) -> str:
    """Return the BERTScore model, which is here; see `bertscore.check_model`."""
    if model == NO_MODEL:
        return NO_MODEL
    from lm_eval_tasks.metrics import bertscore

    return bertscore.check_model(model)


def corpus(row: WritingRow) -> tuple[str, ...]:
    """Return all that a row shows of itself, its demonstrations and its citations; never its target."""
    texts = (
        row.content,
        *(text for one in row.demonstrations for text in (one.content, one.title, one.abstract, one.output)),
        *(f"{citation.title}\n{citation.abstract}" for citation in row.citations),
    )
    return tuple(dict.fromkeys(text for text in texts if text.strip()))


def _with_chunks(rows: Sequence[WritingRow], query: str | None, options: Options) -> Sequence[WritingRow]:
    """Return the rows with what was retrieved for them, if a query is given."""
    if query is None:
        return rows
    from lm_eval_tasks.retrieval import retrieve

    asked = ("".join(slot.text for slot in prompts.slots(query, row)) for row in rows)
    questions = [retrieve.Query(text, corpus(row)) for text, row in zip(asked, rows, strict=True)]
    found = retrieve.retrieve(questions, options.retrieval, cache_folder() / "retrieval")
    return [replace(row, chunks=tuple(map(Chunk, chunks))) for row, chunks in zip(rows, found, strict=True)]


def _median_words(opened: Opened) -> int:
    """Count the words of the median target of the train split; 0 without one."""
    targets = opened.splits["train"]["target"] if "train" in opened.splits else ()
    return int(statistics.median(len(target.split()) for target in targets)) if len(targets) else 0
