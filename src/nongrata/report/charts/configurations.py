"""Configurations along an axis: sorted by a factor that a reader chooses, levels beneath."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nongrata.report.charts.panels import Spec, names_y, said, tip
from nongrata.report.charts.theme import MUTED
from nongrata.report.document.blocks import Dataset, Field
from nongrata.report.document.pieces import Name

LEVEL_STEP = 12
_HEAD = 15
_GAP = 8

Levels = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Configurations:
    """The configurations of a study, and their order along an axis.

    Parameters
    ----------
    factors
        Names of the factors, as they are shown.
    levels
        Levels of each configuration, as they are shown.
    nesting
        Numbers of the factors: configurations are grouped by the first one, within it by the
        second one, and so on. A reader can choose another factor to come first.

    Examples
    --------
    >>> crossed = (("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"))
    >>> Configurations(("f", "g"), crossed, nesting=(0, 1)).order(1)
    [0, 2, 1, 3]
    """

    factors: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    nesting: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.levels)

    def of_factor(self, factor: int) -> list[str]:
        """Levels of a factor, in the order in which the study has them."""
        return list(dict.fromkeys(levels[factor] for levels in self.levels))

    def order(self, first: int) -> list[int]:
        """Place of each configuration if they are grouped by a factor first."""
        nesting = [first, *(factor for factor in self.nesting if factor != first)]
        ranks = [self.of_factor(factor) for factor in range(len(self.factors))]
        keys = [[ranks[f].index(levels[f]) for f in nesting] for levels in self.levels]
        places = [0] * len(keys)
        for place, k in enumerate(sorted(range(len(keys)), key=keys.__getitem__)):
            places[k] = place
        return places

    def fields(self, rows: Sequence[Sequence[Any]], *, ordered: bool = True) -> dict[str, Field]:
        """Fields of a dataset whose rows are about configurations.

        Parameters
        ----------
        rows
            The levels of each row's configuration, as the results have them.
        ordered
            Whether to give the places along the axis too.
        """
        place = {levels: k for k, levels in enumerate(self.levels)}
        at = [place[tuple(said(levels))] for levels in rows]
        fields = {
            f"f{f}": Field.names([self.levels[k][f] for k in at]) for f in range(len(self.factors))
        }
        if ordered:
            for f in range(len(self.factors)):
                order = self.order(f)
                fields[f"at{f}"] = Field.names([order[k] for k in at])
        return fields

    @property
    def data_name(self) -> str:
        """Name of the dataset that `data` gives: models may differ in how factors nest."""
        return "-".join(["data-configurations", *map(str, self.nesting)])

    def data(self) -> Dataset:
        """A row for each configuration: its levels, and its places along the axis."""
        return Dataset(self.data_name, self.fields(self.levels))

    def param(self) -> Spec:
        """The factor by which configurations are grouped; empty for the main one."""
        return {"name": "factor", "value": ""}

    def place(self) -> Spec:
        """Transform: the place along the axis, under the factor chosen."""
        if not self.factors:
            return {"calculate": "0", "as": "place"}
        main, *others = self.nesting
        expression = f"datum.at{main}"
        for f in others:
            expression = f"factor === {json.dumps(self.factors[f])} ? datum.at{f} : {expression}"
        return {"calculate": expression, "as": "place"}

    def x(self, **more: Any) -> Spec:
        """The x encoding: a place for each configuration."""
        scale = {"domain": list(range(len(self)))} | more
        return {"field": "place", "type": "ordinal", "axis": None, "scale": scale}

    def tips(self) -> list[Spec]:
        """Lines of a tooltip: each factor's level."""
        return [tip(f"f{f}", Name(factor)) for f, factor in enumerate(self.factors)]

    @property
    def height(self) -> int:
        """Pixels that `levels_panel` takes."""
        return sum(
            _HEAD + _GAP + LEVEL_STEP * len(self.of_factor(f)) for f in range(len(self.factors))
        )

    def levels_panel(self, top: int, x: Mapping[str, Any], **layer: Any) -> list[Spec]:
        """Layers: for each factor a row for each level, filled where a configuration has it.

        Parameters
        ----------
        top
            Of the panel, in pixels from the top of the view.
        x
            The x encoding.
        layer
            What else each layer has: ``data``, ``transform``.
        """
        layers = []
        for f, factor in enumerate(self.factors):
            levels = self.of_factor(f)
            start = top + _GAP + _HEAD
            top = start + LEVEL_STEP * len(levels)
            title = {
                "titleFontWeight": "bold",
                "title": Name(factor),
                "titleAngle": 0,
                "titleAlign": "right",
                "titleX": -5,
                "titleY": start - 6,
                "titleLimit": 130,
                "titleFontSize": 11,
            }
            y = names_y(f"f{f}", levels, start, top, labelFontSize=10, labelOverlap=False, **title)
            mark = {"type": "rect", "color": MUTED, "height": {"band": 0.7}}
            tips = {"tooltip": self.tips()}
            layers.append({**layer, "mark": mark, "encoding": {"x": dict(x), "y": y, **tips}})
        return layers
