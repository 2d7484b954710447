"""The published domain mapping, and a user's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from nongrata.errors import NongrataError
from nongrata.questions.domains import assign_domains, load_domains, published_domains
from nongrata.questions.loaders import load_questions
from nongrata.questions.model import Question
from nongrata.questions.source import SourceSpec

QUESTION = Question("q", "own", "?", ("a", "b"), 0, subject="anatomy")


def test_all_57_subjects_of_mmlu_are_mapped_once() -> None:
    mapped = [s for dataset, s in published_domains().by_subject if dataset == "mmlu"]
    assert len(mapped) == len(set(mapped)) == 57


def test_every_subject_of_the_shared_data_is_mapped(shared: Path) -> None:
    mapping = published_domains()
    for file in ("mmlu_test", "mmlu_dev", "socialiqa_dev", "normad_eti"):
        condition = "none" if file.startswith("normad") else None
        spec = SourceSpec.model_validate(
            {
                "id": "any-name",
                "format": "normalised",
                "path": f"data/{file}.jsonl.gz",
                "condition": condition,
            }
        )
        domains = {q.domain for q in assign_domains(load_questions(spec, base=shared), mapping)}
        assert "other" not in domains
        if file.startswith("mmlu"):
            assert domains == {
                "mathematics",
                "stem",
                "medicine",
                "law",
                "business",
                "humanities",
                "social_sciences",
                "general_knowledge",
            }


def test_the_mapping_wins_over_the_row_and_the_row_over_other() -> None:
    mapping = published_domains()
    told = Question("r", "own", "?", ("a", "b"), 0, subject="anatomy", domain="knowledge")
    assert [q.domain for q in assign_domains([QUESTION, told], mapping)] == ["other", "knowledge"]
    assert assign_domains([told], mapping, "mmlu")[0].domain == "medicine"
    upstream = Question("u", "own", "?", ("a", "b"), 0, fields=(("source", "socialiqa"),))
    assert assign_domains([upstream], mapping)[0].domain == "social_reasoning"


def test_a_user_file_is_put_over_the_published_one(tmp_path: Path) -> None:
    own = tmp_path / "domains.yaml"
    own.write_text(
        "domains: {body: The body}\n"
        "datasets:\n  mmlu: {body: [anatomy]}\n  own: {mathematics: ['*']}\n"
    )
    mapping = load_domains(own)
    assert mapping.domain_of("mmlu", "anatomy") == "body"
    assert mapping.domain_of("mmlu", "virology") == "medicine"
    assert mapping.domain_of("own", "anything") == "mathematics"
    assert mapping.titles["body"] == "The body"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "datasets:\n  mmlu:\n    medicin: [anatomy]\n",
            ":3, datasets.mmlu.medicin: the domain 'medicin' is not declared; did you mean",
        ),
        (
            "datasets:\n  mmlu:\n    law: [anatomy]\n    stem: [anatomy]\n",
            "domains.yaml:4, datasets.mmlu.stem.0: the subject 'anatomy' is listed under 'law' too",
        ),
        ("datsets: {}\n", "unknown key 'datsets'; did you mean 'datasets'?"),
    ],
)
def test_a_mistake_in_a_mapping_is_told(tmp_path: Path, text: str, said: str) -> None:
    own = tmp_path / "domains.yaml"
    own.write_text(text)
    with pytest.raises(NongrataError) as caught:
        load_domains(own)
    assert said in str(caught.value)
