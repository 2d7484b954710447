"""Conclusions about labels: against controls, against one another, best and worst."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.model_data import ModelData
from nongrata.conclusions.cells import Cells, cells_of, whole_splits
from nongrata.conclusions.draft import NOTHING_VARIED, Draft
from nongrata.conclusions.model import Family
from nongrata.stats.accuracy import Floats
from nongrata.stats.figure import Figure
from nongrata.stats.verdicts import Judged, judge
from nongrata.wording import say

ONE_CLUSTER = "one cluster of questions has no spread"


def label_drafts(cells: Cells, rankable: bool) -> list[Draft]:
    """Conclusions about the labels of one model, without the controls.

    Parameters
    ----------
    cells
        The labels' cells.
    rankable
        Whether the model's accuracy allows a ranking.
    """
    P, K = len(cells.personas), len(cells.configurations)
    if P < 2 or K == 0:
        return []
    i, j = np.triu_indices(P, 1)
    se, pooled = _standard_errors(cells, i, j)
    estimate = cells.accuracy[i] - cells.accuracy[j]
    judged = judge(estimate, se, cells.units.degrees_of_freedom, len(cells.units))
    held = _held_out_pairs(cells, i, j)
    names = cells.names
    out = []
    for m, (a, b) in enumerate(zip(i.tolist(), j.tolist(), strict=True)):
        first, second = (a, b) if judged.direction[m] > 0 else (b, a)
        statement = say(
            "prompts with {label} are answered more accurately than with {rival}",
            label=names[first],
            rival=names[second],
        )
        out.append(
            _draft(
                cells, judged, m, estimate[m], float(pooled[m]), float(held[m]),
                ("pairs", names[first], names[second], statement), rankable,
            )
        )  # fmt: skip
    return out + [_extreme(cells, i, j, estimate, judged, best, rankable) for best in (True, False)]


def control_drafts(
    data: ModelData, together: Cells | None, labels: Cells, rankable: bool
) -> list[Draft]:
    """Conclusions about each label against each control.

    A control that sends the same requests in several configurations is compared in each with the
    answers that its configuration has: its own cell, of which a structural duplicate is a copy.

    Parameters
    ----------
    data
        The model.
    together
        Cells of the labels and all controls, controls last; None where answers are missing, so
        that each control shares other questions with the labels.
    labels
        The labels' cells.
    rankable
        Whether the model's accuracy allows a ranking.
    """
    P = len(labels.personas)
    out: list[Draft] = []
    for k, control in enumerate(data.controls.tolist()):
        if not P or not data.present[control].any():
            continue
        if together is None:
            chosen = data.selection("labels").configurations
            cells, last = cells_of(data, np.append(labels.personas, control), chosen), P
        else:
            cells, last = together, P + k
        if len(cells.configurations):
            out += _against(cells, P, last, rankable)
    return out


def _against(cells: Cells, P: int, control: int, rankable: bool) -> list[Draft]:
    """The first P personas against one of the others."""
    i, j = np.arange(P), np.full(P, control)
    se, pooled = _standard_errors(cells, i, j)
    estimate = cells.accuracy[i] - cells.accuracy[j]
    judged = judge(estimate, se, cells.units.degrees_of_freedom, len(cells.units))
    held = _held_out_pairs(cells, i, j)
    names, out = cells.names, []
    for m in range(P):
        template = (
            "prompts with {label} are answered more accurately than with {rival}"
            if judged.direction[m] > 0
            else "prompts with {label} are answered less accurately than with {rival}"
        )
        statement = say(template, label=names[m], rival=names[control])
        out.append(
            _draft(
                cells, judged, m, estimate[m], float(pooled[m]), float(held[m]),
                ("controls", names[m], names[control], statement), rankable,
                keep_sign=True,
            )
        )  # fmt: skip
    return out


def _standard_errors(
    cells: Cells, i: NDArray[np.intp], j: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Of differences in each configuration, (M, K), and of their mean, (M,)."""
    each = [_of_pairs(C, i, j) for C in cells.within]
    return np.stack(each, axis=1), _of_pairs(cells.of_mean, i, j)


def _of_pairs(C: Floats, i: NDArray[np.intp], j: NDArray[np.intp]) -> Floats:
    """Standard errors of differences; one of rounding alone is 0."""
    own = np.diag(C)
    variance = own[i] + own[j] - 2 * C[i, j]
    # residuals have single precision, so equal answers leave a variance of about 1e-7 of their own
    none = variance <= 1e-9 * (own[i] + own[j])
    return np.asarray(np.sqrt(np.where(none, 0.0, variance)))


def _held_out_pairs(cells: Cells, i: NDArray[np.intp], j: NDArray[np.intp]) -> Floats:
    """Share of the configurations of one half with the direction of the other, (M,)."""
    first, second = whole_splits(*cells.halves)
    if not len(first):
        return np.full(len(i), np.nan)
    both = []
    for a, b in ((first, second), (second, first)):
        mean = a.mean(axis=2)
        sign = np.sign(mean[:, i] - mean[:, j]).astype(np.int8)
        agree = np.zeros(sign.shape[1])
        for c in range(b.shape[2]):
            agree += (np.sign(b[:, i, c] - b[:, j, c]) == sign).mean(axis=0)
        both.append(agree / b.shape[2])
    return np.asarray((both[0] + both[1]) / 2)


def _draft(
    cells: Cells,
    judged: Judged,
    m: int,
    estimate: Floats,
    se: float,
    held: float,
    about: tuple[Family, str, str, str],
    rankable: bool,
    keep_sign: bool = False,
) -> Draft:
    from scipy.special import stdtrit

    family, subject, rival, statement = about
    K, df = len(estimate), cells.units.degrees_of_freedom
    reason = ONE_CLUSTER if df < 1 else NOTHING_VARIED if K < 2 else ""
    sign = 1.0 if keep_sign else float(judged.direction[m])
    mean = 100 * sign * float(estimate.mean())
    margin = 100 * se * float(stdtrit(max(df, 1), 0.975))
    bounds = (
        (Figure(mean - margin), Figure(mean + margin))
        if df >= 1
        else (Figure.undefined(ONE_CLUSTER),) * 2
    )
    return Draft(
        family=family,
        subject=subject,
        rival=rival,
        statement=statement,
        metric="accuracy",
        unit="points",
        estimate=Figure(mean),
        low=bounds[0],
        high=bounds[1],
        share=Figure(100 * float(judged.share[m])),
        held_out=held_out_figure(held),
        claim="robust",
        p=float(judged.robust[m]),
        p_fragile=float(judged.fragile[m]),
        by_configuration=100 * estimate * judged.direction[m],
        p_here=judged.p[m],
        p_opposite=judged.opposite[m],
        names=cells.configuration_names,
        required=judged.required,
        configurations=K,
        allowed=rankable,
        reason=reason,
    )


def held_out_figure(share: float) -> Figure:
    """A share in per cent, or why there is none."""
    if np.isnan(share):
        return Figure.undefined("a half of the questions leaves a configuration empty")
    return Figure(100 * share)


def _extreme(
    cells: Cells,
    i: NDArray[np.intp],
    j: NDArray[np.intp],
    estimate: Floats,
    judged: Judged,
    best: bool,
    rankable: bool,
) -> Draft:
    """The label with the highest (lowest) mean accuracy: does it beat every rival everywhere.

    Its p value in a configuration is the largest against any rival (an intersection-union test),
    doubled like every other since the data choose the label: of equal labels, the chance that the
    leader passes is largest with two of them, where it is the two-sided level (Gutmann & Maymin
    1987). Fragile: a rival is shown to be better somewhere, all rivals and configurations counted.
    """
    sign = 1.0 if best else -1.0
    mean = sign * cells.accuracy.mean(axis=1)
    top = int(mean.argmax())
    rivals = [m for m in range(len(i)) if top in (int(i[m]), int(j[m]))]
    # direction of each of these pairs as "the leader is ahead"
    ahead = np.where(i[rivals] == top, sign, -sign)
    as_judged = (ahead == judged.direction[rivals])[:, None]
    wins = np.where(as_judged, judged.p[rivals], judged.opposite[rivals])
    loses = np.where(as_judged, judged.opposite[rivals], judged.p[rivals])
    lead = estimate[rivals] * ahead[:, None]
    K, df = lead.shape[1], cells.units.degrees_of_freedom
    R = len(rivals)
    joint = judge_extreme(np.where(np.isnan(wins), 1.0, wins), np.where(np.isnan(loses), 1, loses))
    template = (
        "prompts with {label} are answered most accurately of all labels"
        if best
        else "prompts with {label} are answered least accurately of all labels"
    )
    names = cells.names
    runner = min(range(R), key=lambda r: float(lead[r].mean()))
    other = rivals[runner]
    second = int(j[other] if int(i[other]) == top else i[other])
    chosen = "the data choose the label, so an interval of its lead would be too high"
    least = lead.min(axis=0)
    return Draft(
        family="extremes",
        subject=names[top],
        rival=names[second] if R == 1 else say("every other label"),
        statement=say(template, label=names[top]),
        metric="accuracy",
        unit="points",
        estimate=Figure(100 * float(lead[runner].mean())),
        low=Figure.undefined(chosen),
        high=Figure.undefined(chosen),
        share=Figure(100 * float((least >= 0).mean())),
        held_out=held_out_figure(_held_out_extreme(cells, sign)),
        claim="robust",
        p=joint[0] if K > 1 and df >= 1 else float("nan"),
        p_fragile=joint[1] if K > 1 and df >= 1 else float("nan"),
        by_configuration=100 * least,
        p_here=wins.max(axis=0),
        p_opposite=np.minimum(loses.min(axis=0) * R, 1.0),
        names=cells.configuration_names,
        required=judged.required,
        configurations=K,
        allowed=rankable,
        reason=ONE_CLUSTER if df < 1 else NOTHING_VARIED if K < 2 else "",
    )


def judge_extreme(wins: Floats, loses: Floats) -> tuple[float, float]:
    """P values of "best in nearly all configurations" and "a rival is better somewhere".

    Parameters
    ----------
    wins, loses
        One-sided p values of the leader being ahead of (behind) each rival, shape (rivals, K).
    """
    from nongrata.stats.partial_conjunction import partial_conjunction, required

    R, K = wins.shape
    robust = 2 * float(partial_conjunction(wins.max(axis=0), required(K)))
    return min(robust, 1.0), min(2.0 * R * K * float(loses.min()), 1.0)


def _held_out_extreme(cells: Cells, sign: float) -> float:
    """The label picked on one half: in what share of the other half's configurations it leads."""
    first, second = whole_splits(*cells.halves)
    if not len(first):
        return float("nan")
    shares = []
    for a, b in ((sign * first, sign * second), (sign * second, sign * first)):
        picked = a.mean(axis=2).argmax(axis=1)
        value = np.take_along_axis(b, picked[:, None, None], axis=1)[:, 0]
        shares.append(float((value >= b.max(axis=1)).mean()))
    return sum(shares) / 2
