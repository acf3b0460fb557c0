"""The hook for the recall family: rows whose texts are rows of `Papers`."""

import datasets

from lm_eval_tasks import prompts
from lm_eval_tasks.base.contract import LIKELIHOOD, Context, Way
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.metadata import NO_MODEL
from lm_eval_tasks.compat import lm_eval_command as command_line
from lm_eval_tasks.data import cutoff, prompt_columns, window
from lm_eval_tasks.data.opened import TypedRows, open_dataset, rows_of_split
from lm_eval_tasks.data.options import Options
from lm_eval_tasks.data.prompt_columns import TaskData
from lm_eval_tasks.data.selection import asked_of
from lm_eval_tasks.families.reading.hook import texts_of
from lm_eval_tasks.families.recall import FAMILY
from lm_eval_tasks.families.recall.prompt import prompt_of, target_of
from lm_eval_tasks.families.recall.recall_row import RecallOwn, RecallRow
from lm_eval_tasks.prompts import Slot
from lm_eval_tasks.samples.prompt_row import PromptRow

_FACTS = ("paper_id", "published", "primary_category")


@command_line.errors_end_the_process()
def load(
    setting: str,
    answer_tokens: int,
    size: int | None = None,
    shown: Context | None = None,
    way: Way = LIKELIHOOD,
    **arguments: object,
) -> dict[str, datasets.Dataset]:
    """Load a recall configuration's test split; lm-eval's `custom_dataset`. Arguments and errors are those of `writing.hook.load`.

    Rows whose prompt and text are longer than the model's window are left out and counted: nothing of them is cut.
    """
    options = Options.of(arguments)
    options.context_of(shown, setting)
    config = options.config or setting
    model = window.of_model(arguments, options.system_instruction)
    opened = open_dataset(config, options)
    data = TaskData(config, options, opened, model, answer_tokens)
    all_rows = rows_of_split(opened, config, options, _FACTS)
    selection, rows = asked_of(TypedRows(RecallRow, all_rows, config), _FACTS, options, size)
    text_of = texts_of(rows, config, options)
    cutoff.warn(config, options.model_cutoff or cutoff.of_model(arguments), [row.published for row in rows])
    texts = [{(paper.texts, paper.id): text_of(paper) for paper in row.papers} for row in rows]
    targets = [target_of(row, shown_texts) for row, shown_texts in zip(rows, texts, strict=True)]
    asked = [prompt_of(row, shown_texts) for row, shown_texts in zip(rows, texts, strict=True)]
    all_slots = [prompts.behind([Slot(prompt)], is_chat=options.chat) for prompt in asked]
    rooms = data.rooms([[target] for target in targets])
    fitted = data.fit(all_slots, rooms)
    positions = list(selection.positions.values())
    shared = data.shared_columns(positions=selection.count, rows=len(all_rows), version=FAMILY.version, way=way)
    common = {"setting": config, "prompt_name": FAMILY.name, "bertscore_model": NO_MODEL, **shared}
    return prompt_columns.as_split(
        PromptRow(
            **prompt_columns.of_paper(rows[n], rows[n].papers),
            target=targets[n],
            own=RecallOwn(section=rows[n].section, place=rows[n].place, spans=rows[n].spans),
            row_hash=prompt_columns.row_hash(rows[n], FAMILY.version, map(sha256_of_bytes, texts[n].values())),
            **prompt_columns.of_prompt(cut),
            position=positions[n],
            answer_cap=rooms[n],
            **common,
        )
        for n, cut in fitted.items()
    )
