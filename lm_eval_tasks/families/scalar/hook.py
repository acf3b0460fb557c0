"""The hook for SCALAR (SCALAR paper, section 2.2)."""

from collections.abc import Mapping
from dataclasses import replace

import datasets

from lm_eval_tasks.base.contract import GENERATED, Context, Measured, Way
from lm_eval_tasks.compat import lm_eval_command as command_line
from lm_eval_tasks.data import prompt_columns
from lm_eval_tasks.data.options import Options
from lm_eval_tasks.data.prompt_columns import TaskData
from lm_eval_tasks.families.scalar import FAMILY
from lm_eval_tasks.families.scalar.prompt import slots_of
from lm_eval_tasks.families.scalar.scalar_row import ScalarOwn, ScalarRow
from lm_eval_tasks.families.scalar.shortcuts import Chooser, choosers_of, shortened
from lm_eval_tasks.samples.prompt_row import PromptRow

# Tokens: a tokenizer may part what follows from what stands before.
_SEAM = 4
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
    data = TaskData.of(setting, options, arguments, answer_tokens=answer_tokens, shown=shown, way=way)
    asked = data.asked(ScalarRow, _FACTS, size, more=("label",))
    rows, positions = asked.rows, asked.positions
    data.warn_of_cutoff(row.published for row in rows)
    all_slots = [slots_of(replace(row, question=shortened(row.question, data.shown))) for row in rows]
    begins = FAMILY.likelihood.begins if FAMILY.likelihood else ""
    fitted = data.fit(all_slots, [f"{begins}{len(row.candidates)}" for row in rows], seam=_SEAM)
    labels = list(asked.all.rows["label"])
    best_constant = max(sorted(set(labels)), key=labels.count)
    choosers = choosers_of(embed_local=options.embed_local)
    common = data.shared_columns(FAMILY.name, FAMILY.version, asked)
    return prompt_columns.as_split(
        PromptRow(
            **prompt_columns.of_paper(rows[n], rows[n].candidates),
            target=str(rows[n].label),
            own=_own(rows[n], best_constant, choosers),
            row_hash=prompt_columns.row_hash(rows[n], FAMILY.version),
            **prompt_columns.of_prompt(cut),
            position=positions[n],
            **common,
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
