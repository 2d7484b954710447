"""Chart: the rank of each label, and which ranks it could have."""

from __future__ import annotations

from collections.abc import Sequence

from nongrata.report.charts.panels import PERSONA, Spec, names_y, rank_ticks, said, tip, view
from nongrata.report.charts.theme import CATEGORIES, MUTED
from nongrata.report.document.blocks import Chart, Dataset, Field, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Text

_STEP = 15


def rank_intervals(
    labels: Sequence[Cursor], model: str, name: str, table: Table | None = None
) -> Chart:
    """Rank of each label with its confidence sets: of this label alone, and of all at once.

    Parameters
    ----------
    labels
        Of a ranking of the results, in the order shown.
    model
        The model.
    name
        Id of the chart.
    table
        The same numbers.
    """
    names = said([label["persona"].text for label in labels])
    data = Dataset(
        f"data-{name}",
        {
            "persona": Field.names(names),
            **{
                key: Field.of(labels, key)
                for key in ("rank", "low", "high", "all_low", "all_high", "accuracy")
            },
            "best": Field.names([label["possibly_best"].value for label in labels]),
            "worst": Field.names([label["possibly_worst"].value for label in labels]),
        },
    )
    y = names_y("persona", names, 0, _STEP * len(names), grid=True, labelOverlap=False)
    encoding = {"y": y, "tooltip": _tips(), "x": _x("rank", len(names))}
    layers = [
        _bar("all_low", "all_high", 1.5, MUTED, encoding),
        _bar("low", "high", 5, MUTED, encoding),
        _points(encoding),
    ]
    return Chart(
        id=name,
        title=Text.of("Which rank could each label have? {model}", model=Name(model)),
        description=Text(
            "A point for the rank of each label's accuracy over all configurations; the first rank "
            "is the highest accuracy. Bars span the ranks that the label could have."
        ),
        spec=view(layers, _STEP * len(names), data=data.name, params=[PERSONA]) | {"resolve": {}},
        data=(data,),
        table=table,
        notes=(
            Text(
                "Thick bars: ranks that fit one label, 95% sure of this label. Thin bars: of all "
                "labels, 95% sure of all of them together."
            ),
            Text(
                "Triangles: up for labels that could be the best one, down for those that could be "
                "the worst one; circles for all others."
            ),
        ),
        facets={"model": model},
    )


def _x(field: str, lowest: int) -> Spec:
    scale = {"zero": False, "domain": [1, lowest], "nice": False}
    axis = {"grid": False, "values": rank_ticks(lowest), "format": "d"}
    return {
        "field": field,
        "type": "quantitative",
        "title": "rank (first: highest accuracy)",
        "scale": scale,
        "axis": axis,
    }


def _tips() -> list[Spec]:
    return [
        tip("persona", "label"),
        tip("accuracy", "accuracy (%)", ".2f"),
        tip("rank", "rank", ".1f"),
        tip("low", "lowest rank, this label", "d"),
        tip("high", "highest rank, this label", "d"),
        tip("all_low", "lowest rank, all labels at once", "d"),
        tip("all_high", "highest rank, all labels at once", "d"),
    ]


def _bar(low: str, high: str, width: float, colour: str, encoding: Spec) -> Spec:
    picked = {"test": "datum.persona === persona", "value": CATEGORIES[1]}
    return {
        "mark": {"type": "rule", "strokeWidth": width, "opacity": 0.75},
        "encoding": {
            **encoding,
            "x": {**encoding["x"], "field": low},
            "x2": {"field": high},
            "color": {"condition": picked, "value": colour},
        },
    }


def _points(encoding: Spec) -> Spec:
    """Triangles for labels that could be best or worst, circles for the others."""
    shapes = [
        {"test": "datum.best", "value": "triangle-up"},
        {"test": "datum.worst", "value": "triangle-down"},
    ]
    picked = {"test": "datum.persona === persona", "value": CATEGORIES[1]}
    return {
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
        "encoding": {
            **encoding,
            "color": {"condition": picked, "value": CATEGORIES[0]},
            "shape": {"condition": shapes, "value": "circle"},
        },
    }
