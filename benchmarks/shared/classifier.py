"""Make `weights.npz` from labelled citations, and measure it on papers left out.

  python -m benchmarks.shared.classifier LABELS.jsonl[.xz] [--folds N] [--write]

A label, one JSON line each: `paper`, `section`, `before`, `citation`, `after`, `reference`, `single`, and for single ones `type`,
"method" (attributional) or "others" (descriptive). Needs scikit-learn.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from builder.families.scalar import citation_classifier
from builder.families.scalar.citation_classifier import (
    CitationInText,
    First,
    Model,
    feature_numbers,
    features,
    is_single,
    known_columns,
    neighbourhood,
)
from builder.packed import lines_of
from lm_eval_tasks.base.text import parse_json

_WEIGHTS = Path(citation_classifier.__file__).with_name("weights.npz")
_INNER = 5
# Features that fewer citations have are not worth the space.
_LEAST = 3
# Inverse strengths of the regularisation of the three linear models that the first model is the sum of.
_PLAIN, _RATIOS, _RARE = 0.03, 0.01, 5.0


@dataclass(frozen=True, slots=True)
class Labelled:
    """A paper's citations: their contexts, hashed features and types (None if a citation has none)."""

    name: str
    citations: tuple[CitationInText, ...]
    hashes: tuple[np.ndarray, ...]
    types: tuple[bool | None, ...]
    singles: tuple[bool, ...]


def main() -> None:
    """Measure, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    papers = read_labels(arguments.labels)
    print(json.dumps(measure(papers, arguments.folds)))
    if arguments.write:
        model = fit(papers)
        half = {name: getattr(model.first, name).astype(np.float16) for name in ("plain", "rare", "squares")}
        np.savez_compressed(_WEIGHTS, indices=model.first.indices, second=model.second, **half)


def read_labels(path: Path) -> list[Labelled]:
    """Return the labels of each paper, in the order of its text."""
    labels = [parse_json(line) for line in lines_of(path) if line]
    return [
        _labelled_paper(name, list(group)) for name, group in groupby(labels, key=lambda label: str(label["paper"]))
    ]


def _labelled_paper(name: str, labels: Sequence[dict[str, Any]]) -> Labelled:
    citations = tuple(map(_context, labels))
    numbers = tuple(feature_numbers(features(citation)) for citation in citations)
    is_method = tuple(label["type"] == "method" if label["type"] else None for label in labels)
    return Labelled(name, citations, numbers, is_method, tuple(bool(label["single"]) for label in labels))


def _context(label: dict[str, Any]) -> CitationInText:
    """Return a label's citation; whether it is single is decided by the rule, not by the label."""
    fields = label["before"], label["citation"], label["after"], label["section"], str(label["reference"])
    return CitationInText(*fields, single=is_single(CitationInText(*fields)))


def measure(papers: Sequence[Labelled], folds: int) -> dict[str, float]:
    """Return agreement on papers left out of the training, in folds; and of the rule for single citations on all."""
    right = total = 0
    for left_out, rest in _folds(papers, folds):
        model = fit(rest)
        for paper in left_out:
            for type_, value in zip(paper.types, model.decide(paper.citations, paper.hashes), strict=True):
                total += type_ is not None
                right += type_ is not None and (value > 0) == type_
    singles = [
        (citation.single, labelled)
        for paper in papers
        for citation, labelled in zip(paper.citations, paper.singles, strict=True)
    ]
    return {
        "type_agreement": round(right / max(1, total), 4),
        "typed": total,
        "single_agreement": round(sum(a == b for a, b in singles) / max(1, len(singles)), 4),
        "citations": len(singles),
    }


def fit(papers: Sequence[Labelled]) -> Model:
    """Return both models; the second learns from scores that the first gave to papers that it had not seen."""
    from sklearn.linear_model import LogisticRegression

    tables: list[np.ndarray] = []
    types: list[bool] = []
    for left_out, rest in _folds(papers, _INNER):
        first = _fit_first(rest)
        for paper in left_out:
            table = neighbourhood(paper.citations, [first.score(row) for row in paper.hashes])
            typed = [i for i, type_ in enumerate(paper.types) if type_ is not None]
            tables.append(table[typed])
            types += [bool(paper.types[i]) for i in typed]
    second = LogisticRegression(max_iter=1000).fit(np.concatenate(tables), types)
    return Model(_fit_first(papers), np.append(second.coef_[0], second.intercept_[0]))


def _fit_first(papers: Iterable[Labelled]) -> First:
    """Return logistic regression on plain features, on features times their log-count ratios (Wang and Manning 2012), and on TF-IDF.

    Each is scaled to a standard deviation of 1 over what it learnt from.
    """
    from scipy.sparse import csr_matrix, diags
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import normalize

    typed = [
        (row, type_)
        for paper in papers
        for row, type_ in zip(paper.hashes, paper.types, strict=True)
        if type_ is not None
    ]
    types = np.array([type_ for _, type_ in typed])
    hashes, counts = np.unique(np.concatenate([row for row, _ in typed]), return_counts=True)
    indices, counts = hashes[counts >= _LEAST], counts[counts >= _LEAST]
    columns = [known_columns(row, indices) for row, _ in typed]
    ends = np.cumsum([0, *map(len, columns)])
    matrix = csr_matrix((np.ones(ends[-1]), np.concatenate(columns), ends), shape=(len(typed), len(indices)))

    def weights(of: Any, strength: float) -> np.ndarray:
        model = LogisticRegression(C=strength, max_iter=500, fit_intercept=False).fit(of, types)
        return np.asarray(model.coef_[0] / np.std(of @ model.coef_[0]))

    for_it = 1 + np.asarray(matrix[types].sum(0)).ravel()
    against = 1 + np.asarray(matrix[~types].sum(0)).ravel()
    ratios = np.log(for_it / for_it.sum() * against.sum() / against)
    rarity = np.log(len(typed) / counts)
    rare = weights(normalize(matrix @ diags(rarity)), _RARE) * rarity
    return First(indices, weights(matrix, _PLAIN) + weights(matrix @ diags(ratios), _RATIOS) * ratios, rare, rarity**2)


def _folds(papers: Sequence[Labelled], folds: int) -> Iterator[tuple[list[Labelled], list[Labelled]]]:
    """Yield each share of the papers in turn, and the rest; a paper's share depends on its name and their number alone."""
    share = [int(feature_numbers([f"{folds} {paper.name}"])[0]) % folds for paper in papers]
    for k in range(folds):
        yield (
            [paper for paper, number in zip(papers, share, strict=True) if number == k],
            [paper for paper, number in zip(papers, share, strict=True) if number != k],
        )


if __name__ == "__main__":
    main()
