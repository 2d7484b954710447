"""Tables of an ordinary study compile with no more than they ask for, in every language."""

from __future__ import annotations

from pathlib import Path

import pytest

from nongrata.analysis.model_data import Resampling
from nongrata.report.build import build_document
from nongrata.report.document.blocks import Document
from nongrata.report.languages.language import language
from nongrata.report.tables.latex import latex_table
from nongrata.report.tables.wording import all_tables
from nongrata.runner import run_study
from nongrata.study_results import study_results
from report.latex_runs import compiled
from studies import SIMULATED, Silent, loaded, small_study

pytest.importorskip("altair")


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    folder = tmp_path_factory.mktemp("latex") / "run"
    second = SIMULATED | {"id": "other_model", "seed": 4}
    run_study(loaded(small_study(models=[SIMULATED, second])), folder, Silent())
    return build_document(study_results(folder, resampling=Resampling(100, 5, 0)))


@pytest.mark.parametrize(("code", "babel"), [("en", ""), ("es", "spanish")])
def test_all_tables_compile(document: Document, code: str, babel: str, tmp_path: Path) -> None:
    # the text of most papers with one column, 16 cm
    wide_enough = r"%   \usepackage[a4paper,margin=2.5cm]{geometry}"
    tables = [wide_enough] + [latex_table(table, language(code)) for table in all_tables(document)]
    shown = compiled(tmp_path, tables, babel)
    log = (tmp_path / "all.log").read_text("latin-1")
    assert "undefined" not in log.replace("reference(s) may have", "").lower()
    wide = [line for line in log.splitlines() if line.startswith("Overfull")]
    assert not [line for line in wide if float(line.split("(")[1].split("pt")[0]) > 20], wide
    assert not shown or "95" in shown
