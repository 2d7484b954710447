"""Which factors set the sampling temperature: a quantity whose levels were chosen, not drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.settings import one_factor_settings


def temperature_factors(
    names: Sequence[str],
    levels: NDArray[np.integer],
    temperature: NDArray[np.float64] | None,
) -> tuple[str, ...]:
    """Factors that change the temperature while all other factors stay as they are.

    That it does so in one setting of the others is enough: a level may leave the temperature to
    another factor, or fix it whatever that one says, and then several factors set it. Unknown
    temperatures are compared with nothing. Where none is known, it is the factor of that name.

    Parameters
    ----------
    names
        Names of the factors.
    levels
        Level of each factor in each configuration, shape (K, F).
    temperature
        Of each configuration, shape (K,), ``nan`` where it is unknown; None: nowhere known.

    Examples
    --------
    >>> levels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> temperature_factors(("format", "heat"), levels, np.array([0.0, 1.0, 0.0, 1.0]))
    ('heat',)
    >>> temperature_factors(("format", "Temperature"), levels, None)
    ('Temperature',)
    """
    if temperature is None or np.isnan(temperature).all():
        return tuple(name for name in names if name.lower() == "temperature")
    known = ~np.isnan(temperature)
    return tuple(
        name
        for f, name in enumerate(names)
        if any(
            len(np.unique(temperature[group[known[group]]])) > 1
            for group in one_factor_settings(levels, f)
        )
    )
