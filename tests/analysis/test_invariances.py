"""What must not change a result, tried on everything that `analyze` and `findings` compute."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from designs import mixed_responses
from nongrata.analysis import Resampling, analyze
from nongrata.conclusions import findings

if TYPE_CHECKING:
    import xarray as xr

SLOWLY = settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # a smaller example takes minutes to find
)
FEW = Resampling(draws=100, splits=10, seed=5)
DIMS = ("model", "persona", "format", "heat", "question")


def everything(ds: xr.Dataset) -> dict[str, Any]:
    return {
        "analysis": analyze(ds, resampling=FEW).as_dict(),
        "findings": findings(ds, FEW).as_dict(),
    }


def renamed(value: Any, names: dict[str, str]) -> Any:
    """The same result with other names in it, also within sentences."""
    if isinstance(value, str):
        for old, new in names.items():
            value = value.replace(old, new)
        return value
    if isinstance(value, dict):
        return {renamed(k, names): renamed(v, names) for k, v in value.items()}
    return [renamed(v, names) for v in value] if isinstance(value, list) else value


def figures(value: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], float]:
    """Every number of a result, by its place and by what it is about, not by its position."""
    if isinstance(value, dict):
        own = tuple(
            f"{key}={said}"
            for key, said in sorted(value.items())
            if isinstance(said, str) or key in ("levels", "replicate")
        )
        found: dict[tuple[str, ...], float] = {}
        for key, item in value.items():
            found |= figures(item, (*path, *own, key))
        return found
    if isinstance(value, list):
        found = {}
        for i, item in enumerate(value):
            numbered = () if isinstance(item, dict) else (str(i),)
            found |= figures(item, (*path, *numbered))
        return found
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return {}
    return {path: float(value)}


@SLOWLY
@given(st.integers(0, 50), st.data())
def test_names_change_nothing(seed, data):
    """Other names, in another alphabetical order: the same numbers to the last bit."""
    ds = mixed_responses(seed)
    letters = data.draw(st.permutations("abcdefghij"))
    names, coords = {}, {}
    for dim in ("persona", "format", "heat", "question", "model"):
        olds = [str(v) for v in ds[dim].to_numpy()]
        news = [f"<{letters[i % 10]}{dim}{i}>" for i in range(len(olds))]
        names |= dict(zip(olds, news, strict=True))
        coords[dim] = news
    ordered = dict(sorted(names.items(), key=lambda pair: -len(pair[0])))
    plain, other = everything(ds), everything(ds.assign_coords(coords))
    ours = figures(renamed(plain, ordered))
    theirs = figures(other)
    assert ours.keys() == theirs.keys()
    assert ours == theirs


CLOSED = (
    *("value", "accuracy", "sampled", "estimate", "if_unread_right", "read_only"),
    *("variance", "given", "degrees_of_freedom", "mean_square"),
)


@SLOWLY
@given(st.integers(0, 50), st.data())
def test_order_changes_no_closed_form(seed, data):
    """Personas, levels and questions in another order: every estimate is the same number.

    Intervals and p values that are drawn at random may differ within their Monte Carlo error, and
    random splits split otherwise.
    """
    ds = mixed_responses(seed)
    moved = ds
    for dim in ("persona", "format", "heat"):
        order = data.draw(st.permutations(range(ds.sizes[dim])))
        moved = moved.isel({dim: list(order)})
    questions = data.draw(st.permutations(range(12)))
    moved = moved.isel(question=[2 * g + i for g in questions for i in (0, 1)])
    plain = analyze(ds, resampling=FEW)
    other = analyze(moved, resampling=FEW)
    for name in ("instability", "accuracy", "outcomes", "chance", "unread_bounds"):
        ours = figures(_part(plain, name))
        theirs = figures(_part(other, name))
        _alike(ours, theirs, name)
    for name in ("noise", "contrasts", "components", "accuracy_intervals", "agreement"):
        ours = _closed(figures(_part(plain, name)))
        theirs = _closed(figures(_part(other, name)))
        _alike(ours, theirs, name)


def _part(analysis: Any, name: str) -> Any:
    found = analysis.as_dict()[name]
    return {"rows": found} if isinstance(found, list) else found


def _closed(found: dict[tuple[str, ...], float]) -> dict[tuple[str, ...], float]:
    """Estimates and their analytic standard errors; nothing that was drawn at random."""
    random = ("p_", "iq_and_kappa", "p=")
    return {
        path: value
        for path, value in found.items()
        if path[-1] in CLOSED and not any(part.startswith(random) for part in path)
    }


def _alike(ours: dict[Any, float], theirs: dict[Any, float], name: str) -> None:
    shared = ours.keys() & theirs.keys()
    assert len(shared) >= 0.8 * max(len(ours), len(theirs), 1), name
    for path in shared:
        assert math.isclose(ours[path], theirs[path], rel_tol=2e-4, abs_tol=2e-4), (
            path, ours[path], theirs[path],
        )  # fmt: skip


COUNTS = {
    "questions", "clusters", "answers", "missing", "wanted", "design_effect", "p_adjusted",
    "fewest_questions", "fewest_questions_ia", "fewest_questions_io", "fewest_questions_iq",
    "answered", "unread", "letters", "needed", "not_obtained", "error", "unparsed", "refused",
    "truncated", "n", "questions_a", "questions_b", "in_questions", "df",
}  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_every_question_twice_in_one_cluster(seed):
    """Estimates and standard errors stay as they were; numbers of questions and answers do not."""
    ds = mixed_responses(seed)
    twice = ds.isel(question=np.repeat(np.arange(24), 2))
    twice = twice.assign_coords(
        question=[f"{q}{'ab'[i % 2]}" for i, q in enumerate(twice.question.values)]
    )
    plain, other = analyze(ds, resampling=FEW), analyze(twice, resampling=FEW)
    for name in ("instability", "noise", "contrasts", "accuracy_intervals", "components"):
        ours, theirs = figures(_part(plain, name)), figures(_part(other, name))
        shared = {p for p in ours.keys() & theirs.keys() if not COUNTS & set(p)}
        assert len(shared) > 20, name
        wrong = {
            p: (ours[p], theirs[p])
            for p in shared
            if not math.isclose(ours[p], theirs[p], rel_tol=2e-3, abs_tol=2e-3)
        }
        assert not wrong, (name, list(wrong.items())[:10])
