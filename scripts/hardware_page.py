"""Recompute the tables of docs/hardware.md, and the assumed speeds they rest on.

Passes, tokens, hours and cost are what `nongrata plan` computes; memory follows from the models'
published dimensions; speeds are arithmetic from a GPU's data sheet, and nothing but that.

Run: python scripts/hardware_page.py [--check]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from nongrata.loading import LoadedStudy
from nongrata.plan_summary import PlanSummary, plan_study, summarise_plan
from nongrata.presets import load_preset, preset_document
from nongrata.speeds import read_speeds

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "hardware.md"
SPEEDS = DOCS / "assumed-speeds.yaml"

# An H100 (SXM) by its data sheet: dense bfloat16 FLOP/s and bytes/s; and the parts of them that a
# serving engine is taken to reach.
FLOPS, BANDWIDTH = 989e12, 3.35e12
REACHED_FLOPS, REACHED_BANDWIDTH = 0.35, 0.5
# Requests a second that one engine's own Python is taken to manage.
MOST_REQUESTS = 500.0
SIDE_BY_SIDE = 256
CACHED, WRITTEN = 0.3, 100.0
KV_TOKENS = SIDE_BY_SIDE * 512
OVERHEAD = 4e9


@dataclass(frozen=True)
class Shape:
    """A decoder's dimensions, as its config.json has them."""

    layers: int
    hidden: int
    inner: int
    heads: int
    kv_heads: int
    vocabulary: int
    tied: bool
    qkv_bias: bool

    @property
    def head(self) -> int:
        """Width of one attention head."""
        return self.hidden // self.heads

    @property
    def parameters(self) -> int:
        """All weights."""
        kv = self.kv_heads * self.head
        attention = 2 * self.hidden**2 + 2 * self.hidden * kv
        bias = self.hidden + 2 * kv if self.qkv_bias else 0
        layer = attention + bias + 3 * self.hidden * self.inner + 2 * self.hidden
        ends = self.vocabulary * self.hidden * (1 if self.tied else 2) + self.hidden
        return self.layers * layer + ends

    def kv_bytes(self, size: int) -> int:
        """Bytes of one token's keys and values."""
        return 2 * self.layers * self.kv_heads * self.head * size


SHAPES = {
    "llama-3.2-1b-instruct": Shape(16, 2048, 8192, 32, 8, 128_256, tied=True, qkv_bias=False),
    "llama-3.1-8b-instruct": Shape(32, 4096, 14_336, 32, 8, 128_256, tied=False, qkv_bias=False),
    "qwen2.5-1.5b-instruct": Shape(28, 1536, 8960, 12, 2, 151_936, tied=True, qkv_bias=True),
    "qwen2.5-7b-instruct": Shape(28, 3584, 18_944, 28, 4, 152_064, tied=False, qkv_bias=True),
    "qwen2.5-14b-instruct": Shape(48, 5120, 13_824, 40, 8, 152_064, tied=False, qkv_bias=True),
}


def plan(preset: str, engines: int = 1, replicates: int = 1, speeds: bool = False) -> PlanSummary:
    """A preset's plan, computed as if its question files were not here: the same everywhere."""
    study = load_preset(preset).model_copy(update={"replicates": replicates})
    loaded = LoadedStudy(study, preset_document(preset), Path("/nonexistent"))
    found, questions, mean, known = plan_study(loaded)
    given = read_speeds(SPEEDS) if speeds else None
    return summarise_plan(
        found, questions, mean, questions_known=known, speeds=given, engines=engines
    )


def assumed_speeds() -> str:
    """The file of assumed speeds."""
    summary = plan("paper-vllm-1gpu")
    prompt = summary.prompt_tokens_per_model / summary.passes_per_model
    models = {}
    for model, shape in SHAPES.items():
        read = REACHED_FLOPS * FLOPS / (2 * shape.parameters)  # prompt tokens a second
        reading = prompt * (1 - CACHED) / read
        held = SIDE_BY_SIDE * (prompt + WRITTEN / 2) * shape.kv_bytes(2)
        step = (2 * shape.parameters + held) / (REACHED_BANDWIDTH * BANDWIDTH)
        writing = WRITTEN * step / SIDE_BY_SIDE
        tokens = {"prompt_tokens": round(prompt), "cached_tokens": round(prompt * CACHED)}
        models[model] = {
            "readings": {
                "first_token": {"passes_per_second": rounded(min(1 / reading, MOST_REQUESTS))}
                | tokens,
                "free": {"passes_per_second": rounded(min(1 / (reading + writing), MOST_REQUESTS))}
                | tokens
                | {"generated_tokens": round(WRITTEN)},
            }
        }
    values = {
        "kind": "speeds",
        "basis": "assumed",
        "note": "Computed by scripts/hardware_page.py from an H100's data sheet; nothing measured.",
        "models": models,
    }
    return yaml.safe_dump(values, sort_keys=False, width=100)


def rounded(value: float) -> float:
    return float(f"{value:.2g}")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    align = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, align, *rows])


def counts() -> str:
    rows = []
    for replicates in (1, 5):
        found = plan("paper-vllm-1gpu", replicates=replicates)
        tokens, written = found.prompt_tokens_per_model, found.completion_tokens_per_model
        for name, factor in (("one model", 1), ("five models", len(found.models))):
            rows.append(
                [
                    f"{replicates} replicate{'s' if replicates > 1 else ''}, {name}",
                    f"{found.answers_per_model * factor:,}",
                    f"{found.passes_per_model * factor:,}",
                    f"{tokens * factor / 1e9:.1f}",
                    f"{written * factor / 1e9:.1f}",
                    f"{found.disk_bytes / 1e9 / len(found.models) * factor:.0f}",
                ]
            )
    head = ["", "answers", "passes", "prompt tokens, 1e9", "generated, 1e9, at most", "run, GB"]
    return table(head, rows)


def memory() -> str:
    rows = []
    for model, shape in SHAPES.items():
        row = [model, f"{shape.parameters / 1e9:.2f}"]
        for size in (2, 4):
            weights, cache = size * shape.parameters, KV_TOKENS * shape.kv_bytes(size)
            row += [f"{weights / 1e9:.1f}", f"{(weights + cache + OVERHEAD) / 0.9 / 1e9:.0f}"]
        rows.append([*row, f"{shape.kv_bytes(2) / 1024:.0f}"])
    total = sum(shape.parameters for shape in SHAPES.values()) / 1e9
    rows.append(["all five", f"{total:.2f}", f"{2 * total:.1f}", "", f"{4 * total:.1f}", "", ""])
    head = ["", "parameters, 1e9", "weights, bf16, GB", "GPU, bf16, GB", "weights, f32, GB"]
    return table([*head, "GPU, f32, GB", "KV a token, bf16, KiB"], rows)


def hours() -> str:
    one, eight = plan("paper-vllm-1gpu", speeds=True), plan("paper-vllm-8gpu", 8, speeds=True)
    rows = []
    for model in one.models:
        speed = one.estimates[model].speed
        rows.append(
            [
                model,
                f"{speed['first_token']['passes_per_second']:,.0f}",
                f"{speed['free']['passes_per_second']:,.0f}",
                f"{one.hours[model]:,.1f}",
                f"{eight.hours[model]:,.1f}",
            ]
        )
    together = [f"{sum(found.hours.values()):,.1f}" for found in (one, eight)]
    rows.append(["all five", "", "", *together])
    head = ["assumed, not measured", "single passes/s", "generations/s", "hours, 1 GPU"]
    return table([*head, "hours, 8 GPUs"], rows)


def cost() -> str:
    rows = []
    found = plan("paper-hosted")
    for name, share in (("all questions", 1.0), ("500 questions", 500 / found.questions)):
        rows.append(
            [
                name,
                f"{found.passes_per_model * share:,.0f}",
                f"{found.prompt_tokens_per_model * share / 1e6:,.0f}",
                f"{found.completion_tokens_per_model * share / 1e6:,.0f}",
                f"{found.cost['gpt-4o-mini'] * share:,.0f}",
            ]
        )
    head = ["gpt-4o-mini", "requests", "prompt tokens, 1e6", "generated, 1e6, at most"]
    return table([*head, "cost, at most"], rows)


TABLES = {"counts": counts, "memory": memory, "hours": hours, "cost": cost}


def page(text: str) -> str:
    """The page with every table computed anew."""
    for name, build in TABLES.items():
        mark = f"<!-- {name} -->\n"
        before, found, after = text.partition(mark)
        if not found or mark in after:
            sys.exit(f"{PAGE}: the mark {mark.strip()} must stand there once")
        text = before + mark + build() + "\n" + re.sub(r"\A(?:\|.*\n)*", "", after)
    return text


def main() -> None:
    check = "--check" in sys.argv[1:]
    speeds = assumed_speeds()
    stale = []
    if not SPEEDS.is_file() or SPEEDS.read_text("utf-8") != speeds:
        stale.append(SPEEDS)
        if not check:
            SPEEDS.write_text(speeds, encoding="utf-8")
    if not stale or not check:
        old = PAGE.read_text("utf-8")
        new = page(old)
        if old != new:
            stale.append(PAGE)
            if not check:
                PAGE.write_text(new, encoding="utf-8")
    if check and stale:
        names = ", ".join(str(path.relative_to(DOCS.parent)) for path in stale)
        sys.exit(f"{names}: not what scripts/hardware_page.py computes; run it")


if __name__ == "__main__":
    main()
