"""Every key of --metadata, every score and the arguments that may change, read from what checks and computes them.

`python -m docs.option_page` (`make tasks`) writes docs/options.md.
"""

from collections.abc import Iterator
from pathlib import Path

from lm_eval_tasks.base.metadata import OPTIONS
from lm_eval_tasks.base.tables import Table, markdown
from lm_eval_tasks.evaluate.identity import RUNTIME
from lm_eval_tasks.families.descriptor import Metric
from lm_eval_tasks.families.registry import FAMILIES, METRICS

PAGE = Path(__file__).with_name("options.md")
_ARGUMENTS = [
    (", ".join(f"`{name}`" for name in sorted(RUNTIME)), "all answers are kept"),
    (
        "`dtype`, `quantization`, `kv_cache_dtype`, `hf_overrides`, `max_model_len`, any other",
        "all prompts are asked again",
    ),
]


def _by_families() -> dict[str, list[Metric]]:
    """Return heading -> the metrics of the families that it names; what not only families of one way to answer have comes last."""
    sections: dict[str, list[Metric]] = {}
    shared: list[Metric] = []
    for metric in METRICS:
        having = [family for family in FAMILIES if metric in family.metrics]
        if len({family.metrics for family in having}) > 1:
            shared.append(metric)
        else:
            title = " and ".join(family.label for family in having) or "By likelihood"
            sections.setdefault(title, []).append(metric)
    return {**sections, "Several of these": shared}


def option_page() -> Iterator[str]:
    """Yield the lines of docs/options.md."""
    yield from (
        "# Options and scores",
        "",
        "[Evaluating a model](evaluate.md) explains how to use them.",
        "",
        "## Keys of --metadata",
        "",
        """`--metadata '{"key": "value"}'`, in `academiceval eval` and under `lm_eval`. In `academiceval eval`, `--dataset`,""",
        "`--bertscore`, `--fits-only` and `--shard` are short for such keys; `--help` lists the other options.",
        "",
    )
    for title, options in OPTIONS.items():
        yield from _section(title, "key", [(f"`{option.key}`", option.meaning) for option in options])
    yield from (
        "## Arguments of models",
        "",
        *markdown(Table(("argument", "if a run resumes with another value"), "ll", _ARGUMENTS)),
        "",
        "## Scores",
        "",
        "`academiceval eval` prints all; `lm_eval` prints baselines' scores and those in bold, also under the names in brackets.",
        "`placed` is (score - floor) / (1 - floor) with the highest floor: 0 is that floor, 1 is perfect. Texts are first",
        "stripped of lead-ins, headings, labels, and quotes around titles. [Intervals](metrics.md#intervals) are 95 % intervals.",
        "",
    )
    for title, shown in _by_families().items():
        yield from _section(title, "score", [(_name(metric), meaning_of(metric)) for metric in shown])


def _section(title: str, what: str, rows: list[tuple[str, str]]) -> Iterator[str]:
    yield from (f"### {title}", "", *markdown(Table((what, "meaning"), "ll", rows)), "")


def meaning_of(metric: Metric) -> str:
    """Return what a metric measures."""
    first = (metric.compute.__doc__ or "").partition("\n")[0].removeprefix("Return the ")
    return f"{first[:1].upper()}{first[1:]}"


def _name(metric: Metric) -> str:
    name = f"**`{metric.name}`**" if metric.headline else f"`{metric.name}`"
    return f"{name} (`{metric.usual}`)" if metric.usual else name


if __name__ == "__main__":
    PAGE.write_text("\n".join(option_page()), encoding="utf-8")
