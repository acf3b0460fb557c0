"""The hook for SCALAR (SCALAR paper, section 2.2)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import datasets

from lm_eval_tasks.base.contract import GENERATED, LIKELIHOOD, Context, Measured, Way
from lm_eval_tasks.base.metadata import NO_MODEL
from lm_eval_tasks.compat import lm_eval_command as command_line
from lm_eval_tasks.data import cutoff, prompt_columns, window
from lm_eval_tasks.data.opened import TypedRows, open_dataset, rows_of_split
from lm_eval_tasks.data.options import Options, noted
from lm_eval_tasks.data.prompt_columns import TaskData
from lm_eval_tasks.data.selection import asked_of
from lm_eval_tasks.families.scalar import FAMILY
from lm_eval_tasks.families.scalar.prompt import slots_of
from lm_eval_tasks.families.scalar.scalar_row import ScalarOwn, ScalarRow
from lm_eval_tasks.families.scalar.shortcuts import Chooser, choosers_of, shortened
from lm_eval_tasks.prompts import behind
from lm_eval_tasks.samples.prompt_row import PromptRow

# Tokens.
_BETWEEN = 4
_FACTS = ("paper_id", "published", "section")


@command_line.errors_end_the_process()
def load(
    setting: str,
    answer_tokens: int,
    size: int | None = None,
    shown: Context | None = None,
    way: Way = GENERATED,
    **arguments: object,
) -> dict[str, datasets.Dataset]:
    """Load a SCALAR setting's test split with a `prompt` for every row; lm-eval's `custom_dataset`.

    The arguments and errors are those of `writing.hook.load`.
    """
    options = Options.of(arguments)
    shown = options.context_of(shown, setting)
    config = options.config or setting
    model = window.of_model(arguments, options.system_instruction)
    opened = open_dataset(config, options)
    data = TaskData(config, options, opened, model, answer_tokens)
    all_rows = rows_of_split(opened, config, options, (*_FACTS, "label"))
    selection, rows = asked_of(TypedRows(ScalarRow, all_rows, config), _FACTS, options, size)
    cutoff.warn(config, options.model_cutoff or cutoff.of_model(arguments), [row.published for row in rows])
    all_slots = [slots_of(replace(row, question=shortened(row.question, shown))) for row in rows]
    rooms: list[int] = []
    if way == LIKELIHOOD:
        all_slots = [behind(of_row, is_chat=options.chat) for of_row in all_slots]
        begins = FAMILY.likelihood.begins if FAMILY.likelihood else ""
        # A tokenizer may part what follows from what stands before.
        rooms = [room and room + _BETWEEN for room in data.rooms([[f"{begins}{len(row.candidates)}"] for row in rows])]
    fitted = data.fit(all_slots, rooms)
    positions, labels = list(selection.positions.values()), list(all_rows["label"])
    best_constant = max(sorted(set(labels)), key=labels.count)
    choosers = choosers_of(embed_local=options.embed_local)
    common: dict[str, Any] = {
        "setting": config,
        "prompt_name": FAMILY.name,
        "shown": noted(shown),
        "bertscore_model": NO_MODEL,
        **data.shared_columns(positions=selection.count, rows=len(all_rows), version=FAMILY.version, way=way),
    }
    return prompt_columns.as_split(
        PromptRow(
            **prompt_columns.of_paper(rows[n], rows[n].candidates),
            target=str(rows[n].label),
            own=_own(rows[n], best_constant, choosers),
            row_hash=prompt_columns.row_hash(rows[n], FAMILY.version),
            **prompt_columns.of_prompt(cut),
            position=positions[n],
            **({**common, "answer_cap": rooms[n]} if rooms else common),
        )
        for n, cut in fitted.items()
    )


def _own(row: ScalarRow, best_constant: int, choosers: Mapping[Measured, Chooser]) -> ScalarOwn:
    """Tell which citation is asked about, and what shortcuts choose."""
    choices = {name.replace("-", "_"): choose(row) for name, choose in choosers.items()}
    return ScalarOwn(
        level=row.level,
        section=row.section,
        citation_type=row.citation_type,
        label=row.label,
        candidate_ids=tuple(candidate.id for candidate in row.candidates),
        best_constant=best_constant,
        is_sound=row.is_sound,
        **choices,
    )
