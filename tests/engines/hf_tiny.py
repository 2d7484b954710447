"""Models in the Hugging Face form, small enough to compute by hand, and prompts for them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from llamacpp_fakes import Table, batch

from nongrata.engines.base import Batch
from nongrata.prompts import Messages

TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = ("<s>", "</s>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>")
WINDOW = 6
KINDS = ("llama", "mistral", "qwen3", "gemma2", "gemma3_text")


def write_tokenizer(folder: Path, template: str | None = TEMPLATE, **changes: Any) -> None:
    """A byte-level tokenizer with a few merges, BOS before each text, and a marker `<think>`."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("\u0120", "A"), ("\u0120", "B"), ("\u0120", "a"), ("a", "n"), ("t", "h")]
    merges += [("th", "e"), ("\u0120", "the")]
    vocabulary = {text: i for i, text in enumerate([*letters, *("".join(m) for m in merges)])}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(text, special=True) for text in SPECIAL])
    tokenizer.add_tokens([AddedToken("<think>", special=False, normalized=False)])
    bos = tokenizer.token_to_id("<s>")
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A", None, [("<s>", bos)])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<s>",
        "eos_token": {"__type": "AddedToken", "content": "</s>", "special": True},
    }
    if template is not None:
        config["chat_template"] = template
    (folder / "tokenizer_config.json").write_text(json.dumps(config | changes))


def write_model(folder: Path, kind: str = "llama", seed: int = 0, context: int = 256) -> Path:
    """A folder with a random model of two layers; its answers are far from even."""
    import torch
    import transformers

    write_tokenizer(folder)
    config: Any = transformers.AutoConfig.for_model(
        kind,
        vocab_size=280,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=context,
        bos_token_id=263,
        eos_token_id=264,
        pad_token_id=264,
    )
    if kind in ("mistral", "gemma2", "gemma3_text"):
        config.sliding_window = WINDOW
    if kind == "gemma3_text":
        config.layer_types = ["sliding_attention", "full_attention"]
    torch.manual_seed(seed)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim == 2:
                weight.normal_(0, 0.5 if "embed" in name else 0.35)
    model.generation_config.eos_token_id = [264]
    # nothing of this may act
    for name, value in {"temperature": 0.01, "top_k": 1, "repetition_penalty": 9.0}.items():
        setattr(model.generation_config, name, value)
    model.generation_config.do_sample = True
    model.save_pretrained(str(folder))
    return folder


@dataclass(frozen=True)
class ClozeTable(Table):
    """Prompts with option texts; the baseline leaves the question out."""

    options: Sequence[tuple[str, ...]] = ()

    def continuations(self, skeleton: int, question: int) -> tuple[str, ...]:
        return self.options[question]

    def baseline(self, skeleton: int) -> Messages:
        return replace(self.prompts[0], user="Answer.")


def cloze_batch(
    prompts: Sequence[Messages],
    options: Sequence[tuple[str, ...]],
    order: Sequence[int] | None = None,
) -> Batch:
    """Every prompt once, with its options."""
    made = batch(prompts, order=order)
    table = ClozeTable(prompts, options=options)
    return replace(made, reading="cloze", prompts=table)  # type: ignore[arg-type]


def plain_logits(folder: Path) -> Any:
    """The library's own answer: logits after a text, all by itself."""
    import torch
    import transformers

    model: Any = transformers.AutoModelForCausalLM.from_pretrained(
        str(folder), dtype=torch.float32, attn_implementation="eager"
    ).eval()

    def logits(tokens: Sequence[int]) -> np.ndarray:
        with torch.inference_mode():
            out = model(input_ids=torch.tensor([list(tokens)]), use_cache=False)
        return out.logits[0].double().numpy()

    return logits
