"""Formulas in one line: of MathML, and of TeX alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from builder.extract.html import read_html
from builder.extract.jats import read_jats
from builder.mathml import linear, write_formulas


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ("<mfrac><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn></mfrac>", "(x+1)/2"),
        ("<msqrt><mn>2</mn></msqrt>", "√2"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", "√(3&x)"),
        ("<msup><mn>10</mn><mrow><mo>−</mo><mn>5</mn></mrow></msup>", "10^(−5)"),
        ("<msub><mi>x</mi><mi>i</mi></msub>", "x_i"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_i^2"),
        ("<msup><mrow><mo>(</mo><mi>a</mi><mo>)</mo></mrow><mn>2</mn></msup>", "(a)^2"),
        ("<mover><mi>x</mi><mo>^</mo></mover>", "x^"),
        ("<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>", "∑_(i=1)^n"),
        ("<mfenced><mi>a</mi><mi>b</mi></mfenced>", "(a,b)"),
        ("<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr></mtable>", "■(1&0)"),
        ("<mi>sin</mi><mo>\u2061</mo><mi>x</mi>", "sin x"),
        ("<mn>2</mn><mo>\u2062</mo><mi>x</mi>", "2x"),
        ("<semantics><mi>x</mi><annotation>\\xi</annotation></semantics>", "x"),
        ("<mfrac linethickness='0'><mi>n</mi><mi>k</mi></mfrac>", "(n¦k)"),
        ("<mn>3</mn><mstyle><mrow><mfrac><mn>1</mn><mn>4</mn></mfrac><mi>x</mi></mrow></mstyle>", "3 1/4 x"),
        ("<mfrac><mn>1</mn><mrow><mn>2</mn><mi>m</mi></mrow></mfrac>", "1/(2m)"),
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac><mo>\u2062</mo><mn>3</mn>", "1/2·3"),
        ("<mn>2</mn><mo>\u2062</mo><msup><mn>2</mn><mi>n</mi></msup>", "2·2^n"),
        ("<msqrt><mn>2</mn><mi>x</mi></msqrt>", "√(2x)"),
        ("<mi>log</mi><mi>x</mi>", "log x"),
        ("<mmultiscripts><mi>C</mi><mn>6</mn><none/><mprescripts/><none/><mn>14</mn></mmultiscripts>", "^14C_6"),
        ("<menclose notation='radical'><mi>x</mi><mo>+</mo><mn>1</mn></menclose>", "√(x+1)"),
        ("<mfrac><mi>a</mi><mi>b</mi></mfrac><mo>\u2062</mo><mfrac><mi>c</mi><mi>d</mi></mfrac>", "a/b c/d"),
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac><mi>p</mi><mo>(</mo><mi>q</mi><mo>)</mo>", "1/2 p(q)"),
        ("<mrow><mo>−</mo><mfrac><mn>1</mn><mn>2</mn></mfrac></mrow><mo>(</mo><mi>q</mi><mo>)</mo>", "−1/2 (q)"),
        ("<mn>1</mn><mo>/</mo><mfrac><mn>2</mn><mn>3</mn></mfrac>", "1/(2/3)"),
        ("<msqrt><mi>n</mi></msqrt><mo>\u2062</mo><mi>k</mi>", "√n k"),
        ("<msup><msqrt><mi>x</mi></msqrt><mn>3</mn></msup>", "(√x)^3"),
        ("<mi>N</mi><mo>\u2062</mo><mi>log</mi><mo>(</mo><mi>n</mi><mo>)</mo>", "N log(n)"),
        ("<mi>precision</mi><mo>\u2062</mo><mi>recall</mi>", "precision recall"),
        ("<mi>x</mi><mo>\u2062</mo><mfrac><mn>1</mn><mn>2</mn></mfrac>", "x 1/2"),
        ("<mover><mi>x</mi><mo>-</mo></mover>", "x¯"),
        ("<mover><mrow><mi>A</mi><mi>B</mi></mrow><mo>¯</mo></mover>", "(AB)¯"),
        ("<mfenced separators=''><mi>a</mi><mo>+</mo><mi>b</mi></mfenced>", "(a+b)"),
        ("<mtext>MSE</mtext><mo>\u2062</mo><mtext>loss</mtext>", "MSE loss"),
        ("<msubsup><mi>x</mi><mphantom><mi>a</mi></mphantom><mn>2</mn></msubsup>", "x^2"),
        ("", ""),
        ("<mfrac/>", ""),
    ],
)
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
