"""A Dataset of responses, read once: names apart, answers as plain arrays model by model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nongrata.errors import NongrataError
from nongrata.stats.accuracy import ANSWERED, Bools, is_present

if TYPE_CHECKING:
    import xarray as xr

_VARIABLES = ("option", "outcome", "theta", "duplicate")
_PERSONA = ("is_control",)
_QUESTION = ("answer", "domain", "cluster", "source", "n_options")


@dataclass(frozen=True)
class Answers:
    """The answers of one model; a configuration is one combination of factor levels.

    Parameters
    ----------
    option, outcome
        Shape (P, K, R, Q).
    theta
        Shape (P, K, Q); ``nan`` where the probability is not known.
    answer
        Right option of each question, shape (Q,).
    """

    option: NDArray[np.int8]
    outcome: NDArray[np.uint8]
    theta: NDArray[np.float32]
    answer: NDArray[np.int8]

    @cached_property
    def correct(self) -> Bools:
        """Whether the answer was read and right, shape (P, K, R, Q)."""
        right = self.option == self.answer
        return np.asarray(right & (self.outcome == ANSWERED))

    @cached_property
    def present(self) -> Bools:
        """Whether there is an answer, read or not, shape (P, K, R, Q)."""
        return is_present(self.outcome)


@dataclass(frozen=True)
class Cube:
    """The names and the design of a study, and its answers.

    Parameters
    ----------
    models, personas, factors, questions
        Names, in the order of the Dataset.
    factor_levels
        Levels of each factor.
    levels
        Position of the level of each factor in each configuration, shape (K, F); the last factor
        varies fastest.
    is_control
        Shape (P,).
    duplicate
        Structural duplicates, shape (P, K).
    answer, n_options
        Right option and number of options of each question, shape (Q,).
    domain
        Domain of each question.
    cluster, source
        Codes, shape (Q,).
    limited
        Whether the run was cut short on purpose and is no result.
    simulated
        Models that are none.
    readings
        How answers are read; several are pooled in figures over all configurations.
    floor
        How far answers move for numerical reasons alone, a sentence for each model measured.
    """

    models: tuple[str, ...]
    personas: tuple[str, ...]
    factors: tuple[str, ...]
    questions: tuple[str, ...]
    factor_levels: tuple[tuple[Any, ...], ...]
    levels: NDArray[np.intp]
    is_control: Bools
    duplicate: Bools
    answer: NDArray[np.int8]
    n_options: NDArray[np.int8]
    domain: NDArray[np.str_]
    cluster: NDArray[np.intp]
    source: NDArray[np.intp]
    replicates: int
    damage: tuple[str, ...]
    limited: bool
    simulated: tuple[str, ...]
    readings: tuple[str, ...]
    floor: tuple[str, ...]
    dataset: xr.Dataset

    @property
    def domains(self) -> tuple[str, ...]:
        """Domains, in alphabetical order."""
        return tuple(sorted({str(name) for name in self.domain}))

    def configuration(self, c: int) -> tuple[Any, ...]:
        """The levels of configuration `c`, one for each factor."""
        return tuple(
            levels[i] for levels, i in zip(self.factor_levels, self.levels[c], strict=True)
        )

    def label(self, c: int) -> str:
        """The levels of configuration `c` as one text."""
        return configuration_label(self.configuration(c))

    def answers(self, model: int) -> Answers:
        """The answers of one model."""
        P, K, Q = len(self.personas), len(self.levels), len(self.questions)
        dims = ("persona", *self.factors)

        def cells(name: str, *inner: str) -> NDArray[Any]:
            return self.dataset[name].isel(model=model).transpose(*dims, *inner).to_numpy()

        return Answers(
            cells("option", "replicate", "question").reshape(P, K, self.replicates, Q),
            cells("outcome", "replicate", "question").reshape(P, K, self.replicates, Q),
            cells("theta", "question").reshape(P, K, Q),
            self.answer,
        )

    def final_letters(self, model: int) -> NDArray[np.float32] | None:
        """P(right | the text before the letter, and that a label stands there), where read.

        Shape (P, K, R, Q), ``nan`` where no letter decided; None if the run reads no letters. The
        division by the mass of all labels belongs to the comparison with sampled letters: a
        letter is looked for only in texts in which one was drawn.
        """
        if not {"final", "final_mass"} <= set(self.dataset.data_vars):
            return None
        dims = ("persona", *self.factors, "replicate", "question")
        right, mass = (
            self.dataset[name].isel(model=model).transpose(*dims).to_numpy()
            for name in ("final", "final_mass")
        )
        with np.errstate(invalid="ignore"):  # a letter that cannot be is no letter
            share = np.where(mass > 0, right / np.where(mass > 0, mass, 1), np.nan)
        shape = (len(self.personas), len(self.levels), self.replicates, len(self.questions))
        return np.minimum(share, 1).astype(np.float32).reshape(shape)

    @property
    def temperature(self) -> NDArray[np.float64] | None:
        """Sampling temperature of each configuration, shape (K,); None if that is not known."""
        if "sampling_temperature" not in self.dataset.data_vars:
            return None
        found = self.dataset["sampling_temperature"].transpose(*self.factors).to_numpy()
        return np.asarray(found.ravel(), dtype=np.float64)

    @property
    def shown_option(self) -> NDArray[np.int8] | None:
        """Option at each place shown, -1 where there is none, shape (K, Q, places).

        None if options are shown in the source's order, or how they are shown is not known.
        """
        if "shown_option" not in self.dataset.data_vars:
            return None
        dims = (*self.factors, "question", "shown_place")
        found = self.dataset["shown_option"].transpose(*dims).to_numpy()
        return np.asarray(found.reshape(len(self.levels), len(self.questions), -1))

    @property
    def knows_places(self) -> bool:
        """Whether the place at which an option was shown is known."""
        return self.shown_option is not None or self.dataset.attrs.get("options_permuted") is False


def configuration_label(levels: tuple[Any, ...]) -> str:
    """A configuration as one text.

    Examples
    --------
    >>> configuration_label(("role", 0.5))
    'role · 0.5'
    """
    return " · ".join(str(level) for level in levels)


def read_cube(responses: xr.Dataset) -> Cube:
    """Check a Dataset of responses and take its names out of it.

    Parameters
    ----------
    responses
        Dimensions model, persona, one for each name in ``attrs["factors"]``, replicate, question;
        variables option, outcome, theta, duplicate.

    Raises
    ------
    NongrataError
        If something of that is not there.
    """
    factors = tuple(str(name) for name in responses.attrs.get("factors", ()))
    if not factors:
        raise NongrataError(
            "the responses name no factors",
            where='attrs["factors"]',
            fix="list the dimensions that are factors there, at least one",
        )
    wanted = {"model", "persona", "replicate", "question", *factors}
    missing = sorted(wanted - {str(d) for d in responses.dims})
    if missing:
        raise NongrataError(
            f"the responses have no dimension {missing[0]!r}",
            where="Dataset.dims",
            fix="expand_dims() it, also where it has one level",
        )
    for name in (*_VARIABLES, *_PERSONA, *_QUESTION):
        if name not in responses.variables:
            raise NongrataError(
                f"the responses have no variable {name!r}",
                where="Dataset",
                fix="see docs/metrics.md for what a Dataset of responses holds",
            )
    sizes = [int(responses.sizes[name]) for name in factors]
    levels = np.array(list(product(*(range(n) for n in sizes))), dtype=np.intp)
    duplicate = responses["duplicate"].transpose("persona", *factors).to_numpy()
    return Cube(
        models=_names(responses, "model"),
        personas=_names(responses, "persona"),
        factors=factors,
        questions=_names(responses, "question"),
        factor_levels=tuple(_levels(responses, name) for name in factors),
        levels=levels.reshape(-1, len(factors)),
        is_control=responses["is_control"].to_numpy().astype(bool),
        duplicate=duplicate.reshape(duplicate.shape[0], len(levels)).astype(bool),
        answer=responses["answer"].to_numpy(),
        n_options=responses["n_options"].to_numpy(),
        domain=responses["domain"].to_numpy().astype(str),
        cluster=_codes(responses["cluster"].to_numpy()),
        source=_codes(responses["source"].to_numpy()),
        replicates=int(responses.sizes["replicate"]),
        damage=tuple(str(item) for item in responses.attrs.get("damage", ())),
        limited=bool(responses.attrs.get("limited", False)),
        readings=tuple(str(name) for name in responses.attrs.get("readings", ())),
        floor=tuple(str(said) for said in responses.attrs.get("numerical_floor", ())),
        simulated=tuple(str(m) for m in responses.attrs.get("simulated_models", ())),
        dataset=responses,
    )


def _names(responses: xr.Dataset, dim: str) -> tuple[str, ...]:
    return tuple(str(value) for value in responses[dim].to_numpy().tolist())


def _levels(responses: xr.Dataset, factor: str) -> tuple[Any, ...]:
    return tuple(responses[factor].to_numpy().tolist())


def _codes(names: NDArray[Any]) -> NDArray[np.intp]:
    return np.unique(names.astype(str), return_inverse=True)[1].astype(np.intp)
