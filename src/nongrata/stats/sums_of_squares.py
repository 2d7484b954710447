"""Sums of squares of every effect of a balanced crossed design, by margins and differences.

Source: S7; Brennan (2001), Generalizability Theory, sections 3.2-3.3. An effect is a set of facets
(factors of the design). With m_D the mean over all facets not in D, and T_D = (number of
observations behind one such mean) x (sum of m_D^2), the sum of squares of E is

    SS_E = sum over D, a subset of E, of (-1)^(|E| - |D|) T_D,

the squared length of the projection on E's own part of the design. The sums of squares of all
effects, with the grand mean's, add up to the sum of squared observations.

Sets are numbered by their bits: facet i is in set number `s` if ``s >> i & 1``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np

from nongrata.stats.accuracy import Array, Floats

Effect = tuple[str, ...]
"""An effect: the names of its facets, in the order of the design."""


def effects_of(facets: Sequence[str]) -> tuple[Effect, ...]:
    """Every effect of a crossed design, main effects first.

    Examples
    --------
    >>> effects_of(["p", "i"])
    (('p',), ('i',), ('p', 'i'))
    """
    return tuple(
        chosen for size in range(1, len(facets) + 1) for chosen in combinations(facets, size)
    )


def number_of(effect: Sequence[str], facets: Sequence[str]) -> int:
    """Number of a set of facets.

    Examples
    --------
    >>> number_of(("p", "o"), ("p", "i", "o"))
    5
    """
    return sum(1 << facets.index(name) for name in effect)


def degrees_of_freedom(sizes: Sequence[int]) -> Floats:
    """Degrees of freedom of every set of facets: the product of (levels - 1) over the set.

    Parameters
    ----------
    sizes
        Levels of each facet.

    Returns
    -------
    array
        Shape (2^F,), by number of the set; 1 for the grand mean.

    Examples
    --------
    >>> degrees_of_freedom([10, 4]).tolist()
    [1.0, 9.0, 3.0, 27.0]
    """
    return np.array([prod(n - 1 for n in _members(s, sizes)) for s in _sets(sizes)], dtype=float)


def squared_projections(x: Array, facets: int) -> Floats:
    """Squared length of the projection on every effect.

    Parameters
    ----------
    x
        Shape (n_1, ..., n_F, ...): one axis for each facet, then any others, each position of
        which is decomposed on its own. No missing values.
    facets
        Number of facets, F.

    Returns
    -------
    array
        Shape (2^F, ...), by number of the set, in squared units of `x`; the first is the grand
        mean's. Never negative.

    Examples
    --------
    >>> squared_projections(np.array([[1.0, 2.0], [3.0, 8.0]]), 2).tolist()
    [49.0, 16.0, 9.0, 4.0]
    """
    sizes = x.shape[:facets]
    everything = (1 << facets) - 1
    means: dict[int, Floats] = {everything: np.asarray(x, dtype=np.float64)}
    out = np.empty((1 << facets, *x.shape[facets:]))
    inside = tuple(range(facets))
    for s in sorted(_sets(sizes), key=int.bit_count, reverse=True):
        if s != everything:
            # the smallest of the larger tables already made
            i = min((i for i in inside if not s >> i & 1), key=lambda i: sizes[i])
            means[s] = means[s | 1 << i].mean(axis=i, keepdims=True)
        behind = prod(sizes) // max(prod(_members(s, sizes)), 1)
        out[s] = behind * np.square(means[s]).sum(axis=inside)
    for i in inside:
        for s in _sets(sizes):
            if s >> i & 1:
                out[s] -= out[s ^ 1 << i]
    return np.maximum(out, 0.0)


def over_supersets(values: Array, sizes: Sequence[int]) -> Floats:
    """Solve the expected mean squares of a random crossed design for the components.

    The expected mean square of D is the sum over E, a superset of D, of pi(E) sigma2(E), pi(E) the
    number of observations behind one level of E; so

        sigma2(E) = (1 / pi(E)) sum over D, a superset of E, of (-1)^(|D| - |E|) MS_D.

    Parameters
    ----------
    values
        Mean squares, shape (2^F, ...), by number of the set; the grand mean's is ignored.
    sizes
        Levels of each facet.

    Returns
    -------
    array
        Components, same shape; ``nan`` for the grand mean, which has none.

    Examples
    --------
    >>> over_supersets(np.array([0.0, 11.0, 6.0, 1.0]), [5, 10]).tolist()
    [nan, 1.0, 1.0, 1.0]
    """
    out = np.array(values, dtype=np.float64)
    for i in range(len(sizes)):
        for s in _sets(sizes):
            if not s >> i & 1:
                out[s] -= out[s | 1 << i]
    for s in _sets(sizes):
        out[s] /= prod(n for i, n in enumerate(sizes) if not s >> i & 1)
    out[0] = np.nan
    return out


def holding_fixed(components: Array, sizes: Sequence[int], fixed: int) -> Floats:
    """Components of a design in which some facets have all the levels there are.

    Brennan (2001, section 3.4): sigma2(E | M) = sum over T, a set of fixed facets that are not in
    E, of sigma2(E with T) / (levels of T). What interacts with a fixed facet is averaged over its
    levels, and belongs to what it interacts with.

    Parameters
    ----------
    components
        Components with every facet random, shape (2^F, ...), by number of the set.
    sizes
        Levels of each facet.
    fixed
        Number of the set of fixed facets.

    Examples
    --------
    >>> holding_fixed(np.array([np.nan, 1.0, 1.0, 1.0]), [5, 10], 0b10)[1:].round(2).tolist()
    [1.1, 1.0, 1.0]
    """
    out = np.array(components, dtype=np.float64)
    for i, n in enumerate(sizes):
        if fixed >> i & 1:
            for s in _sets(sizes):
                if not s >> i & 1:
                    out[s] += out[s | 1 << i] / n
    return out


def _sets(sizes: Sequence[int]) -> range:
    return range(1 << len(sizes))


def _members(s: int, sizes: Sequence[int]) -> list[int]:
    return [n for i, n in enumerate(sizes) if s >> i & 1]
