from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from designs import responses
from nongrata.analysis.model_data import Resampling
from nongrata.conclusions import findings
from nongrata.conclusions.answer import answer
from nongrata.conclusions.answered import AnswerNumbers
from nongrata.conclusions.headline import NOT_ABOUT_LABELS, NOT_RANKABLE, NOTHING, headline
from nongrata.conclusions.model import Counts
from nongrata.stats.figure import Figure
from nongrata.templates import fields_of
from nongrata.wording import Said

FEW = Resampling(draws=120, splits=4)
SHIFT = np.linspace(-0.25, 0.25, 6)[None, :]


def made(shift=0.0, *, questions=240, **kwargs):
    ds = responses(questions=questions, accuracy=0.6, **kwargs)
    shape = ds["option"].shape
    theta = np.clip(np.full((shape[1], 6), 0.6) + shift, 0, 1)
    right = np.random.default_rng(0).random((shape[1], 6, questions)) < theta[:, :, None]
    gold = ds["answer"].to_numpy()
    option = np.where(right, gold, (gold + 1) % ds["n_options"].to_numpy()).astype(np.int8)
    return ds.assign(option=(ds["option"].dims, option.reshape(shape)))


@pytest.fixture(scope="module")
def part():
    return findings(made(SHIFT), FEW).models[0]


def test_numbers_are_those_of_plain_averages(part):
    ds = made(SHIFT)
    right = (ds["option"] == ds["answer"]).to_numpy()[0, :4].reshape(4, 6, -1)
    by_configuration = 100 * right.mean(axis=(0, 2))
    assert part.numbers.lowest.value == pytest.approx(by_configuration.min(), abs=1e-4)
    assert part.numbers.highest.value == pytest.approx(by_configuration.max(), abs=1e-4)
    assert part.numbers.pairs == 6
    pairs = next(t for t in part.tallies if t.family == "pairs")
    assert part.numbers.pairs_undecided == pairs.undecided == 6 - pairs.robust - pairs.fragile


def test_typical_differences_are_roots_of_the_squared_ones(part):
    effects = part.of("effects")
    assert any(c.estimate.defined and c.estimate.value < 0 for c in effects)
    for c in effects:
        if c.unit != "points^2":
            assert not c.typical.defined
            continue
        for squared, root in ((c.estimate, c.typical), (c.low, c.typical_low)):
            assert root.value == pytest.approx(math.sqrt(max(squared.value, 0)))
    assert not any(c.typical.defined for c in part.of("orders"))


def test_same_way_counts_configurations(part):
    directed = [c for c in part.conclusions if c.same_way.defined]
    assert directed
    for c in directed:
        assert c.same_way.value == pytest.approx(c.share.value * c.configurations / 100, abs=1e-9)
        assert c.required == 6  # with fewer than ten configurations all must show it


def test_the_total_is_the_sum_of_the_families(part):
    for name in Counts.__dataclass_fields__:
        assert getattr(part.total, name) == sum(getattr(t, name) for t in part.tallies)


def test_every_number_in_a_sentence_is_called_as_its_field(part):
    fields = set(AnswerNumbers.__dataclass_fields__)
    names = {"first", "rest", "factors", "label", "best", "worst", "verdict", "why"}

    def used(text):
        assert isinstance(text, Said)
        for name in fields_of(text.template):
            if isinstance(text.values[name], Said):
                yield from used(text.values[name])
            else:
                yield name, text.values[name]

    said = [part.headline, *(answered.details for answered in part.answers)]
    found = [pair for text in said for pair in used(text)]
    assert {name for name, _ in found} <= fields | names
    for name, shown in found:
        if name in fields and name != "p":
            value = getattr(part.numbers, name)
            value = getattr(value, "value", value)
            assert float(shown.replace(",", "")) == pytest.approx(value, abs=0.05)


def test_sentences_survive_copies_and_are_plain_text_in_json(part):
    again = pickle.loads(pickle.dumps(part.answer))
    assert [a.template for a in again] == [a.template for a in part.answer]
    found = findings(made(SHIFT), FEW)
    printed = json.loads(found.to_json())["models"][0]
    assert printed["answer"] == [str(text) for text in part.answer]
    assert printed["headline"] == str(part.headline)
    assert printed["answers"][1]["verdict"] == "depends on the configuration"


def test_accuracy_that_moves_and_what_moves_it(part):
    accuracy = part.answers[1]
    assert accuracy.verdict == "depends on the configuration"
    assert "root mean square (observed: " in accuracy.details
    assert accuracy.details.endswith("It moves with format, temperature.")
    assert part.answer[1].startswith("Accuracy: depends on the configuration. Two configurations ")


@pytest.mark.parametrize(
    ("robust", "fragile", "total", "verdict", "says"),
    [
        (0, 0, 6, "undecided", "For none of 6 pairs of labels"),
        (6, 0, 6, "robust", "all 6 pairs"),
        (2, 0, 6, "partly robust", "holds for 2 of 6 pairs"),
        (2, 1, 6, "part robust, part fragile", "changes for 1, and is undecided for 3"),
        (0, 1, 6, "partly fragile", "changes for 1,"),
        (0, 6, 6, "fragile", "changes for 6,"),
        (1, 0, 1, "robust", "It holds for the one pair"),
        (0, 1, 1, "fragile", "It changes for the one pair"),
        (0, 0, 1, "undecided", "neither established to hold nor to change"),
        (1200, 34, 2000, "part robust, part fragile", "1,200 of 2,000 pairs"),
    ],
)
def test_the_order_in_a_word(part, robust, fragile, total, verdict, says):
    numbers = replace(
        part.numbers,
        pairs=total,
        pairs_robust=robust,
        pairs_fragile=fragile,
        pairs_undecided=total - robust - fragile,
    )
    order = answer(part.conclusions, numbers, rankable=True)[0]
    assert order.verdict == verdict
    assert says in order.details


def test_nothing_is_ranked_where_accuracy_is_not_above_chance(part):
    order = answer(part.conclusions, part.numbers, rankable=False)[0]
    assert order.verdict == "not rankable"
    assert "chance" in order.details
    assert "Best" not in order.details


def test_equal_accuracies_are_said_to_be_equal():
    ds = made()
    gold = np.broadcast_to(ds["answer"].to_numpy(), ds["option"].shape)
    part = findings(ds.assign(option=(ds["option"].dims, gold)), FEW).models[0]
    assert part.answers[1].verdict == "the same in all configurations"
    assert "100.0% in all 6 configurations" in part.answers[1].details


def test_nothing_established_is_said_with_what_is_possible():
    part = findings(made(), FEW).models[0]
    assert [c for c in part.conclusions if c.decided] == []
    assert part.headline == NOTHING
    high = part.numbers.labels_typical_high.value
    assert f"up to {high:.1f} points between two labels" in part.answers[0].details
    domain = next(c for c in part.conclusions if c.family == "orders")
    others = [replace(c, verdict="robust") if c is domain else c for c in part.conclusions]
    assert headline(others, part.numbers, rankable=True) == NOT_ABOUT_LABELS


def test_what_moves_accuracy_stands_in_the_headline_where_no_label_does(part):
    assert part.headline.startswith(str(NOT_ABOUT_LABELS))
    typical = f"{part.numbers.typical.value:.1f}"
    said = (
        f"Accuracy moves with format, temperature: two configurations typically differ by {typical}"
    )
    assert said in part.headline
    barred = headline(part.conclusions, part.numbers, rankable=False)
    assert barred.startswith(NOT_RANKABLE)


@pytest.mark.parametrize(
    ("robust", "fragile", "total", "best", "worst", "says"),
    [
        (6, 0, 6, "robust", "robust", "Yes. The order of all 6 pairs of labels holds in at least"),
        (3, 1, 6, "robust", "robust", "Partly. The best label (A) and the worst (B) are the same"),
        (3, 0, 6, "robust", "undecided", "Partly. The best label (A) is the same in at least 6"),
        (3, 0, 6, "undecided", "robust", "Partly. The worst label (B) is the same in at least 6"),
        (0, 2, 6, "fragile", "fragile", "No. Which label is best and which is worst changes"),
        (0, 2, 6, "undecided", "fragile", "No. Which label is worst changes"),
        (0, 2, 6, "undecided", "undecided", "No. The order changes for 2 of 6 pairs"),
        (0, 2, 6, "robust", "fragile", "Partly. The best label (A) is the same"),
        (0, 0, 6, "robust", "undecided", "The order of all pairs of labels is undecided"),
        (1, 0, 1, "robust", "robust", "Yes. A is ahead of B in at least 6 of 6 configurations."),
        (0, 1, 1, "fragile", "fragile", "No. A is ahead of B in some configurations and behind"),
    ],
)
def test_the_headline_follows_from_the_verdicts(part, robust, fragile, total, best, worst, says):
    numbers = replace(part.numbers, pairs=total, pairs_robust=robust, pairs_fragile=fragile)
    first, second = part.of("extremes")
    conclusions = [
        *(c for c in part.conclusions if c.family != "extremes"),
        replace(first, subject="A", verdict=best),
        replace(second, subject="B", verdict=worst),
    ]
    said = headline(conclusions, numbers, rankable=True)
    assert says in said
    assert ("not supported" in said) == (not said.startswith("Yes") and total > 1)


def test_controls_and_one_label_have_headlines_of_their_own(part):
    numbers = replace(part.numbers, controls=8, controls_robust=5, controls_fragile=1)
    said = headline(part.conclusions, numbers, rankable=True)
    assert "The direction holds for 5 of 8 comparisons" in said
    differ = [
        replace(c, verdict="established") if c.subject == "labels" else c for c in part.conclusions
    ]
    assert headline(differ, part.numbers, rankable=True).startswith("Labels differ, but no order")
    alone = [c for c in part.conclusions if c.subject != "labels"]
    assert headline(alone, part.numbers, rankable=True).startswith("There is one label")


@pytest.mark.parametrize(("high", "said"), [(3.9, True), (4.1, False)])
def test_an_excess_of_at_most_a_tenth_is_called_noise(part, high, said):
    numbers = replace(part.numbers, iq=Figure(40.0), iq_floor=Figure(38.0), iq_excess=Figure(2.0),
                      iq_excess_low=Figure(1.0), iq_excess_high=Figure(high))  # fmt: skip
    conclusions = [
        replace(c, verdict="established") if c.subject == "set of right questions" else c
        for c in part.conclusions
    ]
    details = answer(conclusions, numbers, rankable=True)[2].details
    assert details.startswith("2.0 points [1.0, ")
    assert ("Nearly all of it is noise." in details) == said


def test_one_configuration_answers_nothing():
    part = findings(responses(factors={"format": ["one"]}, questions=60), FEW).models[0]
    assert part.answers[1].verdict == part.answers[2].verdict == "undecided"
    assert "nothing was varied" in part.answers[1].details
    assert "nothing was varied" in part.answers[2].details


def test_names_are_not_taken_for_fields():
    ds = made(SHIFT, controls=1).assign_coords(
        persona=["{typical}", "a{b", "c}", "{}", "control"], format=["{x}", "y"]
    )
    part = findings(ds, FEW).models[0]
    assert any("{typical}" in c.statement for c in part.conclusions)
    assert json.loads(json.dumps(part.answer))
