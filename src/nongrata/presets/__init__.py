"""Studies that come with the package.

A ready study of the paper's protocol differs from `paper` in a few keys at the top of the file:
its text is that of `paper` with those keys' parts replaced. So there is one text of the protocol.
"""

from __future__ import annotations

import re
from importlib import resources

from nongrata.errors import NongrataError
from nongrata.study import Study
from nongrata.yaml_files import Document, did_you_mean, parse_yaml, validate

PRESETS = (
    "paper",
    "paper-vllm-1gpu",
    "paper-vllm-8gpu",
    "paper-ray",
    "paper-hosted",
    "demo",
    "smoke",
)
_TOP_KEY = re.compile(r"^([A-Za-z_]\w*):")


def preset_text(name: str) -> str:
    """The YAML text of a preset, whole: what `nongrata init --preset` writes."""
    if name not in PRESETS:
        guess = did_you_mean(name, PRESETS)
        raise NongrataError(
            f"there is no preset '{name}'",
            fix=f"did you mean '{guess}'?" if guess else f"presets: {', '.join(PRESETS)}",
        )
    parts = {
        "paper-vllm-1gpu": ("vllm-1gpu", "vllm-models"),
        "paper-vllm-8gpu": ("vllm-8gpu", "vllm-models"),
        "paper-ray": ("ray", "vllm-models"),
        "paper-hosted": ("hosted",),
    }
    if name not in parts:
        return _text(f"{name}.yaml")
    text = _text("paper.yaml")
    for part in parts[name]:
        text = with_parts(text, _text(f"parts/{part}.yaml"))
    return text


def with_parts(text: str, parts: str) -> str:
    r"""Replace top-level keys of a YAML text, their comments included, by those of another.

    A key that the text does not have is put behind the key that stands before it in `parts`, or
    at the end.

    Examples
    --------
    >>> with_parts("# One.\na: 1\nb: 2\nd: 4\n", "# Two.\nb: 3\nc: 0\n")
    '# One.\na: 1\n# Two.\nb: 3\nc: 0\nd: 4\n'
    """
    blocks = _blocks(text)
    before: str | None = None
    for key, block in _blocks(parts).items():
        if key in blocks or before is None:
            lead = "\n" if blocks.get(key, "").startswith("\n") and block[0] != "\n" else ""
            blocks[key] = lead + block
        else:
            keys = list(blocks)
            place = keys.index(before) + 1
            rest = {name: blocks.pop(name) for name in keys[place:]}
            blocks |= {key: block, **rest}
        before = key
    return "".join(blocks.values())


def _blocks(text: str) -> dict[str, str]:
    """A YAML text cut before each top-level key and the comments above it."""
    blocks: dict[str, str] = {}
    waiting, current = "", ""
    for line in text.splitlines(keepends=True):
        found = _TOP_KEY.match(line)
        if found:
            current = found.group(1)
            blocks[current], waiting = waiting + line, ""
        elif not line.strip() or line.startswith("#"):
            waiting += line
        else:
            blocks[current] += waiting + line
            waiting = ""
    if waiting and current:
        blocks[current] += waiting
    return blocks


def _text(path: str) -> str:
    return resources.files("nongrata.presets").joinpath(path).read_text("utf-8")


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
