from __future__ import annotations

import re
from pathlib import Path

import pytest

from nongrata.report.document.blocks import Column, Row, Table
from nongrata.report.document.pieces import Name, Number, Text
from nongrata.report.languages.language import language
from nongrata.report.tables.latex import LONGEST_FLOAT, latex_table
from nongrata.report.tables.latex_text import latex_text
from report.latex_runs import compiled, preamble_of
from report.tables.examples import example

ENGLISH = language("en")


def test_a_table_has_caption_label_rules_units_intervals_and_notes() -> None:
    latex = latex_table(example(), ENGLISH)
    assert preamble_of([latex]) == [r"\usepackage{booktabs}", r"\usepackage{graphicx}"]
    for part in (
        r"\caption{Accuracy of m\_1}",
        r"\label{tab:accuracy}",
        r"\begin{tabular}{@{}lrr@{\enspace}rrrl@{}}",
        r"\multicolumn{2}{c}{(points)} & (\%)",
        r"a\_cook \& co & 1,234 & $-$2.3 & {[}$-$10.0, 5.5{]} & 99.5 & .012 & robust \\",
        r"\midrule" + "\n" + r"\multicolumn{7}{@{}l@{}}{\textit{Controls}} \\",
        r"=1+1 & 5 & +12.5 &  & -- & 1\phantom{.000} &  \\",
        r"excess = over the floor; -- = no pairs.",
        r"\par Brackets: 95\% intervals.",
    ):
        assert part in latex, part


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("a_b^c~d%e#f&g$", r"a\_b\textasciicircum{}c\textasciitilde{}d\%e\#f\&g\$"),
        ("<i>|\"'", r"""\textless{}i\textgreater{}\textbar{}\textquotedbl{}'"""),
        ("-- '' ,, ``", r"-{}- '{}' ,{}, \`{}\`{}"),
        ("[x]* ^^41", r"{[}x{]}{*} \textasciicircum{}\textasciicircum{}41"),
        ("Łódź, Đ, ñ", "Łódź, Đ, ñ"),
        ("Café e\u0301", "Café é"),
        ("θ Ω ς Α", r"$\theta$ $\Omega$ $\varsigma$ {[}U+0391{]}"),
        ("中 😀", "{[}U+4E2D{]} {[}U+1F600{]}"),
        ("−1 ≥ 2 × x² x₂", r"$-$1 $\geq$ 2 $\times$ x$^2$ x$_2$"),
        ("a\x00\x1b[1m\u202e\n", r"a\x00\x1b{[}1m\u202e\n".replace("\\", r"\textbackslash{}")),
    ],
)  # fmt: skip
def test_a_text_prints_as_it_is(text: str, latex: str) -> None:
    assert latex_text(text) == latex


def test_other_engines_print_every_character() -> None:
    assert latex_text("中 & 😀", unicode=True) == r"中 \& 😀"
    table = latex_table(example(), ENGLISH, unicode=True)
    assert r"%   \usepackage{fontspec}" in table


def long_table(rows: int, columns: int = 2) -> Table:
    heads = [Column("name", Text("name"), kind="name")]
    heads += [Column(f"x-{i}", Text("a rather long heading"), "points") for i in range(columns)]
    cells = [
        Row((Name(f"[label] {row}"), *(Number(row / 7, "/x", 2) for _ in range(columns))))
        for row in range(rows)
    ]
    return Table("long", Text("Long"), tuple(heads), tuple(cells), (Text("A note."),))


def test_a_long_table_goes_on_over_pages(tmp_path: Path) -> None:
    latex = latex_table(long_table(3 * LONGEST_FLOAT), ENGLISH)
    assert r"%   \usepackage{longtable}" in latex
    assert r"\endhead" in latex
    shown = compiled(tmp_path, [latex])
    assert not shown or (shown.count("heading") >= 6 and "[label] 134" in shown)


def test_a_wide_table_is_made_to_fit(tmp_path: Path) -> None:
    latex = latex_table(long_table(3, 16), ENGLISH)
    assert r"\resizebox" in latex
    compiled(tmp_path, [latex])
    log = (tmp_path / "all.log").read_text("latin-1")
    assert "Overfull" not in log


def test_long_texts_are_wrapped(tmp_path: Path) -> None:
    columns = (Column("a", Text("a"), kind="name"), Column("b", Text("b"), kind="text"))
    words = "a sentence of some length that goes on for more than a line of a table " * 3
    table = Table("t", Text("T"), columns, (Row((Name("x" * 500), Text(words.strip()))),))
    latex = latex_table(table, ENGLISH)
    assert len(re.findall(r"p\{0\.\d\d\\linewidth\}", latex)) == 2
    compiled(tmp_path, [latex])
    assert "Overfull" not in (tmp_path / "all.log").read_text("latin-1")


def test_the_example_compiles_with_what_its_first_lines_ask_for(tmp_path: Path) -> None:
    shown = compiled(tmp_path, [latex_table(example(), ENGLISH)])
    assert not shown or "cook & co" in shown
