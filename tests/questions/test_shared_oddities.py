"""Every oddity that the shared data's README lists is found, with its count.

Counts were taken anew from the files by other means than the package's; where the README's own
figure is another, the comment says why.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from nongrata.questions.checks.report import QuestionsReport
from nongrata.questions.clusters import duplicate_groups
from nongrata.questions.model import QuestionSet

Sets = dict[str, QuestionSet]
Reports = dict[str, QuestionsReport]


def ids(report: QuestionsReport, code: str) -> list[str]:
    finding = report.finding(code)
    assert finding is not None, code
    return [identity.removeprefix(report.sources[0][0] + "/") for identity in finding.ids]


def count(report: QuestionsReport, code: str) -> int:
    finding = report.finding(code)
    return 0 if finding is None else finding.count


def groups(report: QuestionsReport, code: str) -> set[tuple[int, ...]]:
    finding = report.finding(code)
    assert finding is not None, code
    return {tuple(sorted(int(i.split("/")[1]) for i in group)) for group in finding.groups}


def test_sizes_and_balance(shared_reports: Reports) -> None:
    sizes = {name: report.n for name, report in shared_reports.items()}
    assert sizes == {"mmlu": 14042, "mmlu_dev": 285, "socialiqa": 1954, "normad_eti": 2633}
    counts = {name: report.order[0].counts for name, report in shared_reports.items()}
    assert counts["mmlu"] == ((1, 3222), (2, 3462), (3, 3582), (4, 3776))
    assert counts["socialiqa"] == ((1, 643), (2, 654), (3, 657))
    assert counts["normad_eti"] == ((1, 943), (2, 875), (3, 815))
    assert shared_reports["mmlu"].choice_counts == ((4, 14042),)
    assert shared_reports["socialiqa"].choice_counts == ((3, 1954),)


# MMLU


def test_mmlu_subjects(shared_sets: Sets) -> None:
    subjects = Counter(q.subject for q in shared_sets["mmlu"])
    assert len(subjects) == 57
    assert min(subjects.values()) == 100
    assert subjects.most_common(1) == [("professional_law", 1534)]
    assert set(Counter(q.subject for q in shared_sets["mmlu_dev"]).values()) == {5}


def test_mmlu_duplicates(shared_sets: Sets, shared_reports: Reports) -> None:
    report = shared_reports["mmlu"]
    # 105 pairs with the same order of choices, and one pair with another
    assert count(report, "duplicates") == 106
    assert ids(report, "reordered_duplicates") == ["prehistory/299", "prehistory/300"]
    assert report.finding("conflicting_answers") is None
    pairs = [{q.subject for q in group} for group in duplicate_groups(shared_sets["mmlu"])]
    assert pairs.count({"clinical_knowledge", "college_medicine"}) == 78
    assert pairs.count({"college_physics"}) == pairs.count({"high_school_psychology"}) == 11
    assert pairs.count({"public_relations"}) == 2
    for subject in ("elementary_mathematics", "professional_psychology", "us_foreign_policy"):
        assert pairs.count({subject}) == 1
    cluster = {q.id: q.cluster for q in shared_sets["mmlu"]}
    assert cluster["mmlu/college_medicine/62"] == "mmlu/clinical_knowledge/1"
    assert len(set(cluster.values())) == 14042 - 106


def test_mmlu_stems_are_no_key(shared_sets: Sets, shared_reports: Reports) -> None:
    found = shared_reports["mmlu"].finding("shared_questions")
    assert found is not None
    assert (found.count, len(found.ids)) == (154, 327)
    assert max(len(group) for group in found.groups) == 8
    moral = {q.choices for q in shared_sets["mmlu"] if q.subject == "moral_scenarios"}
    assert len(moral) == 1


def test_mmlu_choices(shared_reports: Reports) -> None:
    report = shared_reports["mmlu"]
    twice = [
        "elementary_mathematics/113",
        "high_school_macroeconomics/183",
        "international_law/51",
        "sociology/197",
    ]
    assert ids(report, "right_choice_twice") == twice
    assert ids(report, "repeated_choices") == sorted(
        [
            *twice,
            "business_ethics/2",
            "electrical_engineering/21",
            "high_school_chemistry/140",
            "high_school_physics/99",
            "public_relations/85",
        ]
    )
    assert ids(report, "case_only_choices") == [
        "formal_logic/58",
        "high_school_biology/32",
        "high_school_biology/71",
        "high_school_biology/300",
        "miscellaneous/302",
    ]
    assert ids(report, "label_elsewhere") == [
        "college_chemistry/70",
        "college_physics/25",
        "electrical_engineering/115",
        "formal_logic/50",
    ]
    assert count(report, "one_letter_choices") == 24
    assert count(report, "all_label_digits") == 17
    assert count(report, "several_label_digits") == 120
    assert ids(report, "own_labels") == ["high_school_macroeconomics/269"]


def test_mmlu_choices_that_point_at_others(shared_sets: Sets, shared_reports: Reports) -> None:
    report = shared_reports["mmlu"]
    letters, words = (
        set(ids(report, code)) for code in ("choices_naming_letters", "choices_pointing_in_words")
    )
    # The README says 73. Reading all candidates gives 104, and one false one is found as well
    # ("A and C" are vitamins in human_aging/14): 69 with capitals, and 36 with small letters
    # ("both a and b.", "a. and c. above"), which the README's figure seems to leave out.
    assert len(letters) == 105
    assert "human_aging/14" in letters
    assert {"professional_accounting/32", "high_school_macroeconomics/42"} <= letters
    assert {"philosophy/51", "virology/23", "high_school_chemistry/35"} <= letters
    assert not {"nutrition/205", "formal_logic/30", "moral_disputes/277"} & letters
    # "about 730 rows" by either way of pointing
    assert len(letters | words) == 709
    # B. F. Skinner is a person and no label
    for identity in ("high_school_psychology/370", "high_school_psychology/385"):
        (question,) = (q for q in shared_sets["mmlu"] if q.id == f"mmlu/{identity}")
        assert any("B. F. Skinner" in choice for choice in question.choices)
        assert identity not in letters | set(ids(report, "own_labels"))


def test_mmlu_words_that_loaders_mangle(shared_sets: Sets, shared_reports: Reports) -> None:
    report = shared_reports["mmlu"]
    assert ids(report, "null_words") == [
        "college_computer_science/10",
        "college_computer_science/94",
        "college_mathematics/8",
        "college_mathematics/21",
        "college_mathematics/60",
        "college_physics/60",
        "electrical_engineering/41",
        "electrical_engineering/68",
        "electrical_engineering/107",
        "electrical_engineering/117",
        "high_school_chemistry/163",
        "high_school_mathematics/247",
    ]
    assert ids(report, "boolean_words") == [
        "high_school_computer_science/47",
        "philosophy/69",
        "philosophy/176",
    ]
    texts = {choice for q in shared_sets["mmlu"] for choice in q.choices}
    assert {"None", "none", "Na", "TRUE", "FALSE", "0", "0,1", "1,493"} <= texts
    assert count(report, "number_choices") > 600


def test_mmlu_white_space(shared_reports: Reports) -> None:
    report = shared_reports["mmlu"]
    assert count(report, "question_edge_whitespace") == 963
    assert count(report, "choice_edge_whitespace") == 133
    assert count(report, "question_final_newline") == 306
    assert count(report, "question_newlines") == 1127
    assert count(report, "choice_newlines") == 4
    assert ids(report, "choice_newlines") == ["high_school_computer_science/28"]
    assert ids(report, "tabs") == [
        "college_mathematics/34",
        "formal_logic/49",
        "formal_logic/69",
        "formal_logic/101",
    ]
    assert count(report, "no_break_spaces") == 949
    assert "high_school_macroeconomics/183" in ids(report, "no_break_spaces")
    assert report.finding("carriage_returns") is None


def test_mmlu_control_characters(shared_sets: Sets, shared_reports: Reports) -> None:
    report = shared_reports["mmlu"]
    assert count(report, "c1_controls") == 80
    law = [i for i in ids(report, "c1_controls") if i.startswith("professional_law/")]
    assert len(law) == 78
    (question,) = (q for q in shared_sets["mmlu"] if q.id == "mmlu/professional_law/13")
    assert any("\x80\x93" in text for text in (question.question, *question.choices))
    assert ids(report, "next_lines") == ["management/39", "sociology/69"]
    assert ids(report, "byte_order_marks") == ["college_medicine/49", "college_medicine/80"]
    assert count(report, "non_ascii") == 1821
    assert report.finding("c0_controls") is None


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("brace", 144),
        ("dollar", 771),
        ("percent", 367),
        ("bar", 1022),
        ("backslash", 121),
        ("double_quote", 1346),
        ("less_than", 73),
        ("greater_than", 76),
        ("backtick", 1),
    ],
)
def test_mmlu_template_characters(shared_reports: Reports, name: str, n: int) -> None:
    assert count(shared_reports["mmlu"], f"template_{name}") == n


def test_mmlu_formulas_blanks_and_lengths(shared_sets: Sets, shared_reports: Reports) -> None:
    report = shared_reports["mmlu"]
    assert count(report, "formula_cells") == 86
    assert count(report, "fill_in_blanks") == 409
    (lengths,) = report.lengths
    assert lengths.shortest_question == (4, "mmlu/nutrition/49")
    assert lengths.longest_question == (4671, "mmlu/college_medicine/66")
    assert lengths.longest_choice == (881, "mmlu/professional_law/998")
    assert (lengths.median, lengths.p99, lengths.largest) == (283, 2154, 4844)
    stems = {q.question for q in shared_sets["mmlu"]}
    assert {"IBS\n", "Keynes", "Theories"} <= {
        stem if "\n" in stem else stem.strip() for stem in stems
    }
    assert "<p>" in next(q.question for q in shared_sets["mmlu"] if q.id.endswith("algebra/1"))


# Social IQa


def test_socialiqa_duplicates(shared_reports: Reports) -> None:
    report = shared_reports["socialiqa"]
    conflicting = {(11, 941), (762, 1315), (934, 1146), (1012, 1831), (1168, 1225)}
    agreeing = {
        *((22, 865), (25, 929), (47, 1417), (80, 1362), (179, 187), (258, 343), (303, 387)),
        *((327, 548), (370, 1700), (435, 784), (526, 1630), (565, 1520), (625, 1778)),
        *((649, 775), (658, 1401), (707, 1255), (791, 1532), (1030, 1474), (1257, 1603)),
    }
    assert groups(report, "conflicting_answers") == conflicting
    assert groups(report, "duplicates") == conflicting | agreeing
    assert count(report, "shared_contexts") == 24
    assert report.finding("reordered_duplicates") is None


def test_socialiqa_texts(shared_sets: Sets, shared_reports: Reports) -> None:
    report = shared_reports["socialiqa"]
    assert ids(report, "repeated_choices") == ["102", "428", "669", "877", "1258"]
    assert ids(report, "right_choice_twice") == ["669"]
    assert count(report, "lower_case_contexts") == 71
    assert count(report, "double_spaces") == 38
    for code in ("question_edge_whitespace", "choice_edge_whitespace", "context_edge_whitespace"):
        assert report.finding(code) is None
    assert ids(report, "non_ascii") == ["337", "1299", "1660"]
    texts = {q.id: q.context + q.question + "".join(q.choices) for q in shared_sets["socialiqa"]}
    assert "\u2019" in texts["socialiqa/1299"]
    assert all("\u00b4" in texts[f"socialiqa/{i}"] for i in (337, 1660))
    assert {q.subject for q in shared_sets["socialiqa"]} == {""}


def test_socialiqa_questions_are_templates(shared_sets: Sets, shared_reports: Reports) -> None:
    assert len({q.context for q in shared_sets["socialiqa"]}) == 1930
    commonest = Counter(q.question for q in shared_sets["socialiqa"]).most_common(1)
    assert commonest == [("What will Others want to do next?", 83)]
    assert count(shared_reports["socialiqa"], "shared_questions") > 100


# NormAd-Eti


def test_normad_wording_gives_the_label_away(shared_reports: Reports) -> None:
    """Found without being told what to look for: the two endings, and more than the README has."""
    (leak,) = shared_reports["normad_eti"].leaks
    found = {(e.text, e.unless): (e.n, dict(e.counts)) for e in leak.endings}
    assert leak.labels == "text"
    assert found["socially acceptable?", ()] == (1762, {"yes": 903, "no": 45, "neutral": 814})
    assert found["acceptable?", ("socially acceptable?",)] == (
        862,
        {"yes": 34, "no": 828, "neutral": 0},
    )
    # names leak too
    assert found["Alex did socially acceptable?", ()] == (273, {"yes": 8, "no": 3, "neutral": 262})
    assert all(e.p < 1e-10 for e in leak.endings)
    assert leak.guess > 0.7 > 0.36 > leak.constant
    assert shared_reports["normad_eti"].finding("wording_leak") is not None


@pytest.mark.parametrize("name", ["mmlu", "mmlu_dev", "socialiqa"])
def test_no_leak_is_found_where_none_is_known(shared_reports: Reports, name: str) -> None:
    (leak,) = shared_reports[name].leaks
    assert leak.endings == ()
    assert shared_reports[name].finding("wording_leak") is None


def test_normad_okay_endings(shared_sets: Sets) -> None:
    okay = [q for q in shared_sets["normad_eti"] if q.question.endswith("okay?")]
    assert [q.choices[q.answer] for q in okay] == ["yes"] * 6


def test_normad_rows_are_grouped_by_label(shared_sets: Sets, shared_reports: Reports) -> None:
    (order,) = shared_reports["normad_eti"].order
    assert order.grouped
    assert order.runs == 81
    labels = [q.choices[q.answer] for q in shared_sets["normad_eti"]]
    assert set(labels[1818:]) == {"neutral"}
    assert labels[:909].count("yes") / 909 > 0.95
    assert not any(shared_reports[name].order[0].grouped for name in ("mmlu", "socialiqa"))


def test_normad_questions(shared_sets: Sets, shared_reports: Reports) -> None:
    report = shared_reports["normad_eti"]
    assert ids(report, "no_question") == ["1963"]
    assert [int(i) for i in ids(report, "unusual_question_form")] == [
        *(919, 1000, 1170, 1227, 1324, 1360, 1443, 1482, 1504, 1578, 1580, 1587, 1704, 1757)
    ]
    assert ids(report, "blank_lines") == ["1967", "1985"]
    assert groups(report, "shared_questions") == {(1823, 2044)}
    assert report.finding("duplicates") is None  # their rules differ
    assert report.finding("template_brace") is None
    (lengths,) = report.lengths
    assert (lengths.shortest_question[0], lengths.longest_question[0]) == (100, 516)
    quoted = [q for q in shared_sets["normad_eti"] if '"' in q.question]
    assert len(quoted) == 69


def test_normad_rules(shared_reports: Reports) -> None:
    report = shared_reports["normad_eti"]
    assert [int(i) for i in ids(report, "context_edge_whitespace")] == [
        *(1881, 1883, 1923, 1990, 2049, 2103, 2121, 2166, 2220, 2277, 2304, 2367, 2398, 2410),
        *(2595, 2597, 2610),
    ]
    assert count(report, "shared_contexts") == 54


def test_normad_countries(shared_sets: Sets) -> None:
    questions = shared_sets["normad_eti"]
    countries = Counter(q.subject for q in questions)
    assert len(countries) == 75
    assert (countries["syria"], countries["sudan"]) == (18, 48)
    assert (min(countries.values()), max(countries.values())) == (18, 48)
    assert {"türkiye", "timor-leste", "saudi_arabia"} <= set(countries)
    told = [q.subject + q.question + (q.field_text("rule_of_thumb") or "") for q in questions]
    assert sum(not text.isascii() for text in told) == 195
    assert questions[1823].subject == "austria"
    assert questions[2044].subject == "netherlands"


def test_no_id_is_shared(shared_sets: Sets) -> None:
    for one, two in combinations(shared_sets.values(), 2):
        assert not {q.id for q in one} & {q.id for q in two}
