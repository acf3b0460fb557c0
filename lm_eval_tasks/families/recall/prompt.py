"""The prompts of recall: stretches of papers, and a line that names paper and section last."""

from lm_eval_tasks import prompts
from lm_eval_tasks.families.reading.prompt import Texts, parts_shown
from lm_eval_tasks.families.recall.recall_row import RecallRow


def prompt_of(row: RecallRow, texts: Texts) -> str:
    """Return the prompt of a row."""
    parts = "".join(f"{part}\n\n" for part in parts_shown(row.papers, row.parts, row.parts_version, texts))
    return prompts.filled(prompts.words("recall"), {"PARTS": parts, "SECTION": row.section, "TITLE": row.title})


def target_of(row: RecallRow, texts: Texts) -> str:
    """Return the text that a row asks for, as it stands."""
    paper = row.papers[row.text.paper]
    return texts[paper.texts, paper.id][row.text.start : row.text.end]
