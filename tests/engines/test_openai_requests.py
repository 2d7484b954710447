"""What may be written in a model's description, and what becomes of a prompt."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from llamacpp_fakes import messages
from pydantic import ValidationError

from nongrata.engines.chat_template import ChatTemplate
from nongrata.engines.openai import OpenAIEngine
from nongrata.engines.openai_requests import RequestForm
from nongrata.engines.openai_secrets import Key
from nongrata.errors import NongrataError
from nongrata.model_specs import OpenAISpec

TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}<|assistant|>"


def spec(**changes: Any) -> OpenAISpec:
    return OpenAISpec.model_validate({"id": "m", "engine": "openai", "model": "x"} | changes)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"base_url": "http://me:secret@host/v1"}, "no user name or password"),
        ({"base_url": "http://host/v1?key=secret"}, "plain address"),
        ({"base_url": "http://host/v1#x"}, "plain address"),
        ({"base_url": "http:///v1"}, "plain address"),
        ({"base_url": "http://host:port/v1"}, "no address"),
        ({"base_url": "ftp://host"}, "base_url"),
        ({"extra_body": {"temperature": 2}}, "the study decides it"),
        ({"extra_body": {"stream": True}}, "the study decides it"),
        ({"label_variants": ["{label}", "{label}"]}, "twice"),
        ({"api": "completions"}, "needs a template"),
        ({"template": TEMPLATE}, "belongs to api: completions"),
        ({"echo": True}, "echo belongs"),
        ({"omit": ["temperature"]}, "omit"),
    ],
)
def test_descriptions_that_cannot_work(changes: dict[str, Any], word: str) -> None:
    with pytest.raises(ValidationError) as caught:
        spec(**changes)
    told = [f"{error['loc']} {error['msg']}" for error in caught.value.errors()]
    assert word in str(told)
    assert "secret" not in str(told)


def test_the_key_goes_to_openai_or_to_whom_it_is_given() -> None:
    assert spec().key_variable == "OPENAI_API_KEY"
    assert spec(base_url="http://localhost:1/v1").key_variable is None
    assert spec(base_url="https://api.openai.com.evil.example/v1").key_variable is None
    assert spec(base_url="http://localhost:1/v1", key_env="MINE").key_variable == "MINE"


def test_the_limit_has_the_name_the_server_knows() -> None:
    form = RequestForm(spec(), "other")
    prompt = form.prompt(messages("hi"))
    assert form.generate(prompt, messages("hi").decoding, 0.5, 1)["max_completion_tokens"] == 8
    form = RequestForm(spec(token_limit="max_tokens"), "other")
    assert form.score(prompt)["max_tokens"] == 1


def test_scores_are_asked_for_at_temperature_one_without_truncation() -> None:
    body = RequestForm(spec(), "vllm").score(RequestForm(spec(), "vllm").prompt(messages("hi")))
    assert (body["temperature"], body["top_p"], body["top_k"], body["min_p"]) == (1.0, 1.0, -1, 0.0)
    assert (body["logprobs"], body["top_logprobs"]) == (True, 20)


@pytest.mark.parametrize(
    "text",
    ["<|im_end|>", "a <\uff5cUser\uff5c> b", "</s>", "[INST] x", "<<SYS>>", "<end_of_turn>"],
)
def test_a_control_token_in_a_text_is_refused_or_sent(text: str) -> None:
    for given in (messages(text), messages("x", text)):
        with pytest.raises(ValueError, match="control token"):
            RequestForm(spec(), "other").prompt(given)
        assert RequestForm(spec(markers_in_text="send"), "other").prompt(given)


@pytest.mark.parametrize(
    "text", ["<b>bold</b>", "a < b > c", "if x <| y", "[a] [B]", "2 << 3", "<system>", "<||>"]
)
def test_ordinary_texts_pass(text: str) -> None:
    sent = RequestForm(spec(), "other").prompt(messages(text)).fields["messages"]
    assert sent[-1] == {"role": "user", "content": text}


def test_a_template_and_a_text_may_not_make_a_control_token_together() -> None:
    template = ChatTemplate("{% for m in messages %}{{ m.content }}|>{% endfor %}")
    form = RequestForm(spec(api="completions", template="{{ }}"), "other", template)
    assert form.prompt(messages("plain")).text == "plain|>"
    with pytest.raises(ValueError, match="make a control token"):
        form.prompt(messages("cut <|im_end"))


def test_prompts_that_differ_have_other_digests() -> None:
    form = RequestForm(spec(prefill="continue_final_message"), "other")
    digests = {
        form.prompt(messages(*texts)).digest
        for texts in (("a",), ("b",), ("a", "s"), ("a", "", "p"), ("a", "", "q"))
    }
    assert len(digests) == 5


def test_a_template_from_a_file_or_as_text(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    (tmp_path / "chat.jinja").write_text(TEMPLATE, encoding="utf-8")
    local = {"base_url": "http://localhost:1/v1", "api": "completions"}
    engines = [
        OpenAIEngine.open(spec(template=given, **local), tmp_path)
        for given in ("chat.jinja", TEMPLATE)
    ]
    shas = {engine._template.sha256 for engine in engines if engine._template}
    assert len(shas) == 1
    with pytest.raises(NongrataError, match=r"cannot be read.*models\.m\.template"):
        OpenAIEngine.open(spec(template="absent.jinja", **local), tmp_path)


def test_a_short_placeholder_is_no_secret_in_answers() -> None:
    assert Key("EMPTY").redact("The set is EMPTY") == "The set is EMPTY"
    assert Key("EMPTY").redact_answer(b"EMPTY") == b"EMPTY"
    long = Key("sk-0123456789/abcdef")
    assert long.redact("sk-0123456789/abcdef sk-0123456789%2Fabcdef") == "[key] [key]"
    assert long.redact_answer(b"x sk-0123456789/abcdef") == b"x [key]"
    assert "0123" not in repr(long)


def test_log_records_lose_the_key_and_the_filter_goes_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    key = Key("sk-0123456789abcdef")
    logger = logging.getLogger("httpcore2.http11")
    caplog.set_level(logging.DEBUG)
    before = list(logger.filters)
    with key.kept_out_of_logs():
        logger.debug("headers %r", [(b"x", b"sk-0123456789abcdef")])
        logger.debug("nothing %s", "special")
    assert "headers [(b'x', b'[key]')]" in caplog.text
    assert "nothing special" in caplog.text
    assert logger.filters == before


def test_a_key_in_the_clear_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("MINE", "sk-0123456789abcdef")
    notes: list[str] = []
    for host in ("http://example.org/v1", "http://127.0.0.1:1/v1", "https://example.org/v1"):
        OpenAIEngine.open(spec(base_url=host, key_env="MINE"), Path(), notify=notes.append)
    assert notes == ["m: the key is sent to http://example.org/v1 without encryption"]
