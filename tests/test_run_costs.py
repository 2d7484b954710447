from __future__ import annotations

import pytest

from nongrata.model_specs import OpenAISpec
from nongrata.plan_summary import plan_study, summarise_plan
from nongrata.run_costs import cost_so_far, price_of
from studies import SIMULATED, loaded, small_study

HOSTED = {
    "id": "hosted", "engine": "openai", "model": "m", "price_in": 3.0, "price_out": 10.0,
    "price_cached": 1.0,
}  # fmt: skip


def test_the_estimate_counts_every_pass_and_its_longest_answer() -> None:
    study = loaded(small_study(models=[SIMULATED, HOSTED]))
    plan, questions, mean, known = plan_study(study)
    summary = summarise_plan(plan, questions, mean, questions_known=known)
    completion = plan.size("free") * 16 + plan.size("first_token")
    expected = (summary.prompt_tokens_per_model * 3 + completion * 10) / 1e6
    assert summary.cost == {"hosted": pytest.approx(expected, rel=1e-4)}


def test_cached_tokens_have_a_price_of_their_own() -> None:
    spec = OpenAISpec.model_validate(HOSTED)
    assert price_of(spec, 1000, 400, 10) == pytest.approx((600 * 3 + 400 * 1 + 10 * 10) / 1e6)
    same = spec.model_copy(update={"price_cached": None})
    assert price_of(same, 1000, 400, 10) == pytest.approx((1000 * 3 + 10 * 10) / 1e6)


def test_without_prices_tokens_are_counted_all_the_same() -> None:
    spec = OpenAISpec(id="m", engine="openai", model="m", price_in=1.0)
    cost = cost_so_far(spec, [{"prompt_tokens": 5, "completion_tokens": 1}, {}])
    assert (cost.prompt_tokens, cost.completion_tokens, cost.price) == (5, 1, None)
    assert str(cost) == "m: 5 prompt tokens and 1 generated ones"
