"""Studies that come with the package."""

from __future__ import annotations

from importlib import resources

from nongrata.errors import NongrataError
from nongrata.study import Study
from nongrata.yaml_files import Document, did_you_mean, parse_yaml, validate

PRESETS = ("paper", "demo", "smoke")


def preset_text(name: str) -> str:
    """The YAML text of a preset."""
    if name not in PRESETS:
        guess = did_you_mean(name, PRESETS)
        raise NongrataError(
            f"there is no preset '{name}'",
            fix=f"did you mean '{guess}'?" if guess else f"presets: {', '.join(PRESETS)}",
        )
    return resources.files("nongrata.presets").joinpath(f"{name}.yaml").read_text("utf-8")


def preset_document(name: str) -> Document:
    """A preset, parsed but not validated."""
    return parse_yaml(preset_text(name), f"preset {name}")


def load_preset(name: str) -> Study:
    """A preset as a study.

    Examples
    --------
    >>> load_preset("paper").shape
    (4, 4, 3)
    """
    return validate(Study, preset_document(name))
