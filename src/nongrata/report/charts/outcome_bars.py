"""Charts: what became of the answers that are not right or wrong but unread or missing."""

from __future__ import annotations

from collections.abc import Sequence

from nongrata.report.charts.configurations import Configurations
from nongrata.report.charts.panels import PERSONA, Spec, names_y, said, tip, view
from nongrata.report.document.blocks import Chart, Dataset, Field, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Names, Text

FAILURES = ("unparsed", "refused", "truncated", "error")
"""Outcomes beside "answered", in per cent of what was attempted."""

_COLOURS = ("#0072b2", "#e69f00", "#56b4e9", "#d55e00")
"""Dark and light in turn, so that neighbours differ in grey."""
_STEP = 15
_HEIGHT = 130


def label_outcomes(
    rows: Sequence[Cursor], model: str, name: str, table: Table | None = None
) -> Chart:
    """For each label a bar of the answers that could not be read, by why.

    Parameters
    ----------
    rows
        Of the results' outcomes, one for each label and control.
    model
        The model.
    name
        Id of the chart.
    table
        The same numbers.
    """
    names = said([row["persona"].text for row in rows])
    kinds = occurring(rows)
    data = Dataset(f"data-{name}", {"persona": Field.names(names), **_rates(rows, kinds)})
    height = _STEP * len(names)
    y = names_y("persona", names, 0, height, labelOverlap=False)
    tips = [tip("persona", "label"), *_tips(kinds)]
    axis = {"grid": True, "tickCount": 5}
    bars = [
        _bar(kind, kinds, "x", {"y": y, "tooltip": tips}, {"axis": axis}, {"height": {"band": 0.7}})
        for kind in kinds
    ]
    return Chart(
        id=name,
        title=Text.of("Answers that could not be read, by label: {model}", model=Name(model)),
        description=Text(
            "A bar for each label and control: the share of its answers that could not be read or "
            "failed, by why."
        ),
        spec=view(bars, height, data=data.name, params=[PERSONA]) | {"resolve": {}},
        data=(data,),
        table=table,
        notes=(_order(kinds),),
        facets={"model": model},
    )


def configuration_outcomes(
    rows: Sequence[Cursor],
    configurations: Configurations,
    model: str,
    name: str,
    table: Table | None = None,
) -> Chart:
    """The same for each configuration, with its levels below.

    Parameters
    ----------
    rows
        Of the results' outcomes, one for each configuration.
    configurations
        Along the x axis.
    model
        The model.
    name
        Id of the chart.
    table
        The same numbers.
    """
    kinds = occurring(rows)
    fields = configurations.fields([row["levels"].value for row in rows])
    data = Dataset(f"data-{name}", {**fields, **_rates(rows, kinds)})
    x = configurations.x()
    tips = [*configurations.tips(), *_tips(kinds)]
    more = {
        "scale": {"range": [_HEIGHT, 0]},
        "axis": {"orient": "left", "tickCount": 4, "titleY": _HEIGHT // 2},
    }
    bars: Spec = {
        "layer": [
            _bar(kind, kinds, "y", {"x": x, "tooltip": tips}, more, {"width": {"band": 0.8}})
            for kind in kinds
        ]
    }
    return Chart(
        id=name,
        title=Text.of(
            "Answers that could not be read, by configuration: {model}", model=Name(model)
        ),
        description=Text(
            "A bar for each configuration: the share of its answers that could not be read or "
            "failed, by why; rows of squares below say which levels it has."
        ),
        spec=view(
            [bars, *configurations.levels_panel(_HEIGHT, x)],
            _HEIGHT + configurations.height,
            data=data.name,
            params=[configurations.param()],
            transform=[configurations.place()],
        ),
        data=(data,),
        table=table,
        notes=(_order(kinds),),
        facets={"model": model},
    )


def occurring(rows: Sequence[Cursor]) -> list[str]:
    """The failures that occur in any of the rows."""
    return [kind for kind in FAILURES if any(row["rates"][kind].number for row in rows)]


def _rates(rows: Sequence[Cursor], kinds: Sequence[str]) -> dict[str, Field]:
    return {kind: Field.of(rows, "rates", kind) for kind in kinds}


def _tips(kinds: Sequence[str]) -> list[Spec]:
    return [tip(kind, f"{kind} (%)", ".2f") for kind in kinds]


def _order(kinds: Sequence[str]) -> Text:
    """For print in grey: in which order the parts of a bar stand."""
    listed = tuple(Text(kind) for kind in kinds)
    if len(kinds) == 1:
        return Text("Unread answers count as not right.")
    return Text.of("Parts of a bar, from the axis: {kinds}.", kinds=Names(listed))


def _bar(
    kind: str, kinds: Sequence[str], channel: str, encoding: Spec, more: Spec, size: Spec
) -> Spec:
    """One part of each bar: it begins where the parts before it end."""
    before = " + ".join(["0", *(f"datum.{each}" for each in kinds[: kinds.index(kind)])])
    transform = [
        {"calculate": before, "as": "begins"},
        {"calculate": f"{before} + datum.{kind}", "as": "ends"},
    ]
    colours = {"domain": list(kinds), "range": list(_COLOURS[: len(kinds)])}
    legend = {"orient": "top", "columns": 2, "symbolType": "square"}
    at = {"field": "begins", "type": "quantitative", "title": "answers (%)"}
    return {
        "transform": transform,
        "mark": {"type": "bar", **size},
        "encoding": {
            **encoding,
            channel: {**at, **more},
            f"{channel}2": {"field": "ends"},
            "color": {"datum": kind, "scale": colours, "legend": legend, "title": None},
        },
    }
