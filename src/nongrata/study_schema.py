"""The JSON Schema of a study file, so that editors complete and check it."""

from __future__ import annotations

from typing import Any

from nongrata.factors import Settings
from nongrata.study import Study

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def study_schema() -> dict[str, Any]:
    """Build the schema from the models that validate a study.

    Two forms that the models expand before validating are added by hand: plain values as levels,
    and settings inside a level's ``set``.

    Examples
    --------
    >>> study_schema()["title"]
    'nongrata study'
    """
    schema = Study.model_json_schema()
    schema["$schema"] = DIALECT
    schema["title"] = "nongrata study"
    definitions = schema["$defs"]
    level = {"$ref": "#/$defs/Level"}
    definitions["Factor"]["properties"]["levels"]["items"] = {
        "anyOf": [level, {"type": ["string", "number", "boolean"]}]
    }
    settings = Settings.model_json_schema()
    definitions["Level"]["properties"]["set"] = {
        "type": "object",
        "title": "Set",
        "additionalProperties": False,
        "properties": settings["properties"],
        "default": {},
    }
    return schema
