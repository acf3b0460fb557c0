"""The hook for SCALAR (SCALAR paper, section 2.2)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import datasets

from lm_eval_tasks.base.contract import Context, Measured
from lm_eval_tasks.base.metadata import NO_MODEL
from lm_eval_tasks.compat import lm_eval_command as command_line
from lm_eval_tasks.data import cutoff, prompt_columns
from lm_eval_tasks.data import window as context
from lm_eval_tasks.data.opened import TypedRows, open_dataset, rows_of_split
from lm_eval_tasks.data.options import Options, noted
from lm_eval_tasks.data.selection import Fact, chosen
from lm_eval_tasks.families.scalar import FAMILY
from lm_eval_tasks.families.scalar.prompt import ScalarRow, slots_of
from lm_eval_tasks.families.scalar.shortcuts import Chooser, choosers_of, shortened
from lm_eval_tasks.samples.prompt_row import PromptRow

_FACTS = ("paper_id", "published", "section", "label")


@command_line.errors_end_the_process()
def load(
    setting: str, answer_tokens: int, size: int | None = None, shown: Context | None = None, **arguments: object
) -> dict[str, datasets.Dataset]:
    """Load a SCALAR setting's test split with a `prompt` for every row; lm-eval's `custom_dataset`.

    The arguments and errors are those of `writing.hook.load`.
    """
    options = Options.of(arguments)
    shown = options.context_of(shown, setting)
    config = options.config or setting
    model = context.of_model(arguments, options.system_instruction)
    opened = open_dataset(config, options)
    all_rows = rows_of_split(opened, config, options, _FACTS)
    columns = all_rows.select_columns(list(_FACTS))
    chosen_places, count = chosen(
        [Fact(row["paper_id"], row["published"], row["section"]) for row in columns], config, options, size
    )
    typed_rows = TypedRows(ScalarRow, all_rows, config)
    rows = [typed_rows[place] for place in chosen_places]
    cutoff.warn(config, options.model_cutoff or cutoff.of_model(arguments), [row.published for row in rows])
    all_slots = [slots_of(replace(row, question=shortened(row.question, shown))) for row in rows]
    fitted = prompt_columns.fit(all_slots, model, answer_tokens, options, config)
    places, labels = list(chosen_places.values()), [row["label"] for row in columns]
    common = {
        "setting": config,
        "prompt_name": FAMILY.name,
        "shown": noted(shown),
        "bertscore_model": NO_MODEL,
        "best_constant": max(sorted(set(labels)), key=labels.count),
        **prompt_columns.shared_columns(
            options, opened, model, answer_tokens, places=count, rows=len(all_rows), version=FAMILY.version
        ),
    }
    choosers = choosers_of(embed_local=options.embed_local)
    return prompt_columns.as_split(
        PromptRow(
            **_of_question(rows[n], choosers),
            row_hash=prompt_columns.row_hash(rows[n], FAMILY.version),
            **prompt_columns.of_prompt(cut),
            place=places[n],
            **common,
        )
        for n, cut in fitted.items()
    )


def _of_question(row: ScalarRow, choosers: Mapping[Measured, Chooser]) -> dict[str, Any]:
    """The columns of `PromptRow` that tell which citation is asked about, and what shortcuts choose."""
    names = ("id", "paper_id", "title", "level", "section", "citation_type", "published", "license", "round", "label")
    return {
        **{name: getattr(row, name) for name in names},
        **{name.replace("-", "_"): choose(row) for name, choose in choosers.items()},
        "first_author": row.first_author,
        "is_sound": row.is_sound,
        "month": row.published[:7],
        "target": str(row.label),
        "candidate_ids": tuple(candidate.id for candidate in row.candidates),
        "licenses": tuple(sorted({row.license, *(one.license for one in row.candidates)})),
    }
