"""The hook for the recall family: rows whose texts are rows of `Papers`."""

import datasets

from lm_eval_tasks.base.contract import LIKELIHOOD, Context, Way
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.compat import lm_eval_command as command_line
from lm_eval_tasks.data import prompt_columns
from lm_eval_tasks.data.options import Options
from lm_eval_tasks.data.prompt_columns import TaskData
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
    data = TaskData.of(setting, options, arguments, answer_tokens=answer_tokens, shown=shown, way=way)
    asked = data.asked(RecallRow, _FACTS, size)
    rows = asked.rows
    data.warn_of_cutoff(row.published for row in rows)
    text_of = texts_of(rows, data.config, options)
    texts = [{(paper.texts, paper.id): text_of(paper) for paper in row.papers} for row in rows]
    targets = [target_of(row, shown_texts) for row, shown_texts in zip(rows, texts, strict=True)]
    all_slots = [[Slot(prompt_of(row, shown_texts))] for row, shown_texts in zip(rows, texts, strict=True)]
    fitted = data.fit(all_slots, targets)
    positions = asked.positions
    common = data.shared_columns(FAMILY.name, FAMILY.version, asked)
    return prompt_columns.as_split(
        PromptRow(
            **prompt_columns.of_paper(rows[n], rows[n].papers),
            target=targets[n],
            own=RecallOwn(section=rows[n].section, place=rows[n].place, spans=rows[n].spans),
            row_hash=prompt_columns.row_hash(rows[n], FAMILY.version, map(sha256_of_bytes, texts[n].values())),
            **prompt_columns.of_prompt(cut),
            position=positions[n],
            **common,
        )
        for n, cut in fitted.items()
    )
