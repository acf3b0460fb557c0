"""Formulas in one line: of MathML, and of TeX alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from builder.extract.html import read_html
from builder.extract.jats import read_jats
from builder.mathml import linear, write_formulas
from standins.places import table_beside

_PRINTED = table_beside(__file__, "printed.json")


@pytest.mark.parametrize(("inner", "text"), _PRINTED["formulas"])
def test_mathml_in_one_line(inner: str, text: str) -> None:
    assert linear(etree.fromstring(f"<math>{inner}</math>")) == text


def test_tex_alone_stays_tex_and_pictures_alone_are_gaps() -> None:
    source = r"\documentclass{minimal}\begin{document}$$\frac{1}{2}$$\end{document}"
    root = etree.fromstring(
        f"<p>Take <inline-formula><tex-math>{source}</tex-math></inline-formula> or "
        "<inline-formula><inline-graphic/></inline-formula>, <inline-formula><alternatives><math><mi>x</mi></math>"
        "<tex-math>y</tex-math></alternatives></inline-formula>.</p>"
    )
    write_formulas(root)
    assert root[0].text == r"\frac{1}{2}"
    assert root[1].text is None
    assert "".join(map(str, root[2].itertext())).startswith("x")


ARTICLE = (
    '<article article-type="research-article"><front><article-meta><title-group><article-title>T</article-title></title-group>'
    "<abstract><p>{text}</p></abstract></article-meta></front><body><sec><title>Introduction</title><p>{text}</p></sec></body></article>"
)
HALF = "<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>"
POWER = "<math><msup><mn>2</mn><mi>n</mi></msup></math>"


def test_an_article_and_a_page_say_the_same(tmp_path: Path) -> None:
    text = f"Take {HALF} of {POWER} cells."
    (tmp_path / "a.xml").write_text(ARTICLE.format(text=text))
    article = read_jats(tmp_path / "a.xml").document
    (tmp_path / "a.html").write_text(
        f'<html><body><article class="ltx_document"><section class="ltx_section"><h2 class="ltx_title">Introduction</h2>'
        f'<div class="ltx_para"><p class="ltx_p">{text}</p></div></section></article></body></html>'
    )
    page = read_html(tmp_path / "a.html").document
    assert article.abstract == "Take 1/2 of 2^n cells."
    assert article.sections[0].text == page.sections[0].text == "Take 1/2 of 2^n cells."


def test_a_fraction_behind_a_number_and_a_formula_of_tex_alone() -> None:
    fraction = "<mfrac><mn>1</mn><mn>4</mn></mfrac>"
    tex = "<math><semantics><annotation encoding='application/x-tex'>\\alpha</annotation></semantics></math>"
    page = f"<p>3<math><semantics>{fraction}<annotation>1</annotation></semantics></math> of a<math>{fraction}</math>, <math alttext='x^{{2}}'/> and {tex}</p>"
    root = etree.fromstring(page)
    write_formulas(root)
    assert "".join(map(str, root.itertext())) == "3 1/4 of a1/4, x^{2} and \\alpha"


def test_formulas_within_a_formula_do_not_end_the_others() -> None:
    inner = "<inline-formula><tex-math>$b$</tex-math></inline-formula>"
    formulas = f"<disp-formula><tex-math>$a$</tex-math>{inner}</disp-formula>, <inline-formula><tex-math>$c$</tex-math></inline-formula>"
    root = etree.fromstring(f"<p>{formulas}</p>")
    write_formulas(root)
    assert "".join(map(str, root.itertext())) == "a, c"
