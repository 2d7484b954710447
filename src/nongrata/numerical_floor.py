"""How far a model's answers move when only batch, order and cache do: the numerical floor.

A difference between two prompts that is no larger than this is not a finding. Two measures of one
request's label distribution, taken twice: its *shares*, the labels' probabilities divided by their
sum, and its *masses*, the same undivided, with all other tokens as one more outcome.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nongrata.engines.base import Scores

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """What one condition did to next-token distributions, against the reference.

    Parameters
    ----------
    condition
        Short name.
    how
        What was different, in words.
    requests
        Requests that were answered in both.
    share_max, share_mean
        Total variation of the label shares, largest and mean.
    mass_max, mass_mean
        Total variation of the unnormalised masses, the mass outside the labels included.
    log_odds_max
        Largest change of the log-odds of two labels.
    flips
        Requests whose most probable label is another one.
    not_asked
        Why this condition was not asked; then there are no figures.
    """

    condition: str
    how: str
    requests: int = 0
    share_max: float = math.nan
    share_mean: float = math.nan
    mass_max: float = math.nan
    mass_mean: float = math.nan
    log_odds_max: float = math.nan
    flips: int = 0
    not_asked: str = ""


@dataclass(frozen=True, slots=True)
class TextChange:
    """How many texts generated at temperature 0 a condition changed."""

    condition: str
    how: str
    texts: int
    differ: int

    @property
    def share(self) -> float:
        """Share of texts that differ."""
        return self.differ / self.texts if self.texts else math.nan


@dataclass(frozen=True, slots=True)
class PersonaEffect:
    """How far persona labels move the same question in the same formats, controls apart.

    Parameters
    ----------
    comparisons
        Pairs of persona labels compared.
    cells
        Questions in formats in which they were.
    mean, largest
        Total variation between their label shares.
    reason
        Why there are no figures.
    """

    comparisons: int
    cells: int
    mean: float = math.nan
    largest: float = math.nan
    reason: str = ""


@dataclass(frozen=True, slots=True)
class EngineCheck:
    """The numerical floor of one model, beside the size of persona effects.

    Parameters
    ----------
    model
        Id of the model in its study.
    engine, backend, precision, device
        What computed.
    hardware
        Processor, cores and system.
    nongrata, checked
        Version of this package, and when the check was made.
    digest
        Hash of the model's identity.
    requests, errors
        Requests asked in each condition, and how many of them failed in any.
    scores, texts
        What each condition changed.
    effect
        The size of persona effects, from the reference pass.
    notes
        What a reader must know, such as that there was nothing to compare.
    kind
        Tag of the JSON form.
    """

    model: str
    engine: str
    backend: str
    precision: str
    device: str
    hardware: Mapping[str, Any]
    nongrata: str
    checked: str
    digest: str
    requests: int
    errors: int
    scores: tuple[ScoreChange, ...]
    texts: tuple[TextChange, ...]
    effect: PersonaEffect
    notes: tuple[str, ...] = ()
    kind: str = "engine_check"

    @property
    def largest(self) -> float:
        """Largest change of a request's label shares over all conditions; ``nan`` if none."""
        return max(
            (c.share_max for c in self.scores if not math.isnan(c.share_max)), default=math.nan
        )

    @property
    def mean(self) -> float:
        """Largest of the conditions' mean changes of the label shares."""
        return max(
            (c.share_mean for c in self.scores if not math.isnan(c.share_mean)), default=math.nan
        )

    @property
    def flips(self) -> int:
        """Most requests whose most probable label changed in one condition."""
        return max((change.flips for change in self.scores), default=0)

    def sentence(self) -> str:
        """The floor beside the effect, in one sentence.

        Examples
        --------
        >>> moved = ScoreChange("reversed", "in reversed order", 40, 3e-6, 1e-6, 4e-6, 1e-6, 2e-5)
        >>> effect = PersonaEffect(40, 10, 0.081, 0.2)
        >>> check = EngineCheck("m", "llamacpp", "", "f32", "", {}, "", "", "", 40, 0, (moved,), (),
        ...                     effect)
        >>> check.sentence()
        'largest change .0000030, mean persona effect .081: 27,000 times smaller'
        """
        if math.isnan(self.largest):
            return "the numerical floor could not be measured: " + "; ".join(self.notes)
        said = f"largest change {decimal(self.largest)}"
        effect = self.effect.mean
        if math.isnan(effect):
            return f"{said}; {self.effect.reason}"
        said += f", mean persona effect {decimal(effect)}: "
        if self.largest == 0:
            return said + "nothing moved at all"
        ratio = effect / self.largest
        if ratio >= 2:
            return said + f"{_two_digits(ratio)} times smaller"
        return said + f"only {ratio:.1f} times as large, so differences may be rounding"

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; what is undefined is None."""
        value: dict[str, Any] = _without_nan(asdict(self))
        largest, mean = _without_nan([self.largest, self.mean])
        return value | {"largest": largest, "mean": mean, "sentence": self.sentence()}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Self:
        """Read what `as_dict` wrote."""
        known = {field.name for field in fields(cls)}
        given = {key: item for key, item in value.items() if key in known}
        given["scores"] = tuple(ScoreChange(**_with_nan(item)) for item in given["scores"])
        given["texts"] = tuple(TextChange(**item) for item in given["texts"])
        given["effect"] = PersonaEffect(**_with_nan(given["effect"]))
        given["notes"] = tuple(given["notes"])
        return cls(**given)

    def __str__(self) -> str:
        return f"{self.model} ({self.engine}, {self.precision}): {self.sentence()}"


def label_masses(scores: Scores, offered: Bools) -> Floats:
    """Probability of each offered label, all its spellings together; ``nan`` elsewhere.

    Parameters
    ----------
    scores
        Of n requests.
    offered
        Which labels each request offers, shape (n, options).

    Examples
    --------
    >>> logs = np.log(np.array([[[0.5, 0.1], [0.2, np.nan]]], dtype=np.float32))
    >>> none = np.zeros(1, dtype=np.int32)
    >>> scores = Scores(logs, np.zeros((1, 0), np.float32), np.array([0.2]), none, none,
    ...                 np.zeros(1, np.uint64), {})
    >>> label_masses(scores, np.array([[True, True, False]])).round(3).tolist()
    [[0.6, 0.2, nan]]
    """
    logs = np.nan_to_num(scores.label_logprobs.astype(np.float64), nan=-np.inf)
    masses = np.full(offered.shape, np.nan)
    width = min(logs.shape[1], offered.shape[1])
    masses[:, :width] = np.exp(logs[:, :width]).sum(axis=2)
    return np.where(offered, masses, np.nan)


def shares_of(masses: Floats) -> Floats:
    """Label masses divided by their sum; all equal where the sum is 0."""
    total = np.nansum(masses, axis=1, keepdims=True)
    count = np.sum(~np.isnan(masses), axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isnan(masses), np.nan, np.where(total > 0, masses / total, 1 / count))


def score_change(
    condition: str, how: str, reference: Floats, other: Floats, answered: Bools
) -> ScoreChange:
    """Compare label masses of the same requests.

    Parameters
    ----------
    condition, how
        What the other pass is called, and what was different in it.
    reference, other
        Label masses, shape (n, options).
    answered
        Which requests were answered in both, shape (n,).

    Examples
    --------
    >>> one, two = np.array([[0.3, 0.1]]), np.array([[0.2, 0.2]])
    >>> change = score_change("again", "asked again", one, two, np.array([True]))
    >>> round(change.share_max, 3), round(change.mass_max, 3), change.flips
    (0.25, 0.1, 0)
    """
    one, two = reference[answered], other[answered]
    if not len(one):
        return ScoreChange(condition, how, not_asked="no request was answered in both")
    share = np.nansum(np.abs(shares_of(one) - shares_of(two)), axis=1) / 2
    outside = np.abs(np.nansum(one, axis=1) - np.nansum(two, axis=1))
    mass = (np.nansum(np.abs(one - two), axis=1) + outside) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = np.log(two) - np.log(one)
    moved = np.where(np.isfinite(moved), moved, np.nan)
    pairs = [row[~np.isnan(row)] for row in moved]
    odds = [float(np.ptp(row)) for row in pairs if len(row) > 1]
    flips = np.nan_to_num(one, nan=-1).argmax(axis=1) != np.nan_to_num(two, nan=-1).argmax(axis=1)
    return ScoreChange(
        condition,
        how,
        len(one),
        float(share.max()),
        float(share.mean()),
        float(mass.max()),
        float(mass.mean()),
        max(odds, default=math.nan),
        int(flips.sum()),
    )


def persona_effect(masses: Floats, cell: NDArray[np.int64], answered: Bools) -> PersonaEffect:
    """Total variation between the label shares of requests that differ in the persona alone.

    Parameters
    ----------
    masses
        Label masses, shape (n, options).
    cell
        Number of the question and formats that a request asks, shape (n,).
    answered
        Which requests were answered, shape (n,).

    Examples
    --------
    >>> masses = np.array([[0.6, 0.2], [0.4, 0.4], [0.1, 0.1]])
    >>> effect = persona_effect(masses, np.array([0, 0, 1]), np.ones(3, dtype=np.bool_))
    >>> effect.comparisons, effect.cells, round(effect.mean, 3)
    (1, 1, 0.25)
    """
    shares = shares_of(masses)
    distances, cells = [], 0
    for one_cell in np.unique(cell[answered]):
        rows = np.flatnonzero((cell == one_cell) & answered)
        pairs = [
            float(np.nansum(np.abs(shares[a] - shares[b])) / 2)
            for a, b in itertools.combinations(rows, 2)
        ]
        distances += pairs
        cells += bool(pairs)
    if not distances:
        return PersonaEffect(
            0, 0, reason="the study has no two persona labels whose effect could be measured"
        )
    return PersonaEffect(len(distances), cells, float(np.mean(distances)), max(distances))


def decimal(value: float) -> str:
    """Two significant digits without an exponent or a leading zero.

    Examples
    --------
    >>> decimal(0.0000031), decimal(0.081), decimal(0.0), decimal(1.5)
    ('.0000031', '.081', '0', '1.50')
    """
    if value == 0 or math.isnan(value):
        return "0" if value == 0 else "-"
    digits = max(2, 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{digits}f}"
    return text.removeprefix("0") if value > 0 else text


def _two_digits(value: float) -> str:
    if value < 10:
        return f"{value:.1f}"
    step = 10 ** (math.floor(math.log10(value)) - 1)
    return f"{round(value / step) * step:,}"


def _without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _with_nan(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: math.nan if item is None else item for key, item in value.items()}
