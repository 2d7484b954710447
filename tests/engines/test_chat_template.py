"""Templates that behave like those of the model families people use, written for these tests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongrata.engines.chat_template import ChatTemplate
from nongrata.errors import NongrataError
from nongrata.prompts import Decoding, Messages

DECODING = Decoding(max_tokens=8, top_k=0, top_p=1.0, min_p=0.0, stop=())

DEFAULT_SYSTEM = (
    "{% for m in messages %}"
    "{% if loop.first and m.role != 'system' %}[sys]You are Smol.[end]\n{% endif %}"
    "[{{ m.role }}]{{ m.content }}[end]\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
).replace("[sys]", "[system]")

FALSY_DEFAULT = """\
{%- if messages[0].role == 'system' and messages[0].content %}
    {{- '[system]' + messages[0].content + '[end]\n' }}
{%- else %}
    {{- '[system]You are Q.[end]\n' }}
{%- endif %}
{%- for m in messages if m.role != 'system' %}
    {{- '[' + m.role + ']' + m.content + '[end]\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[assistant]' }}{%- endif %}
"""

DATED = """\
{{- bos_token }}
{%- set date_string = strftime_now("%d %b %Y") %}
{%- set ns = namespace(system='') %}
{%- if messages[0]['role'] == 'system' %}
    {%- set ns.system = messages[0]['content'] | trim %}
    {%- set messages = messages[1:] %}
{%- endif %}
{{- '[system]Today Date: ' + date_string + '\n\n' + ns.system + '[eot]' }}
{%- for m in messages %}{{- '[' + m.role + ']' + m.content | trim + '[eot]' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '[assistant]' }}{%- endif %}
"""

NO_SYSTEM = """\
{{ bos_token }}
{%- if messages[0]['role'] == 'system' %}
    {{- raise_exception('System role not supported') }}
{%- endif %}
{%- for m in messages %}
    {%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('alternate') }}
    {%- endif %}
    {{- '[' + m.role + ']\n' + m.content | trim + '[eot]\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '[model]\n' }}{% endif %}
"""

MERGED = """\
{{ bos_token }}
{%- if messages[0].role == 'system' %}
    {%- set system = messages[0].content %}
    {%- set turns = messages[1:] %}
{%- else %}
    {%- set turns = messages %}
{%- endif %}
{%- for m in turns %}
    {%- if loop.last and system is defined %}
        {{- '[INST] ' + system + '\n\n' + m.content + '[/INST]' }}
    {%- else %}
        {{- '[INST] ' + m.content + '[/INST]' }}
    {%- endif %}
{%- endfor %}
"""

THINKING = (
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}[end]{% endfor %}"
    "{% if add_generation_prompt %}[assistant]"
    "{% if enable_thinking is defined and enable_thinking is false %}[think][/think]{% endif %}"
    "{% endif %}"
)

TRAINING = (
    "{% for m in messages %}{% if m.role == 'assistant' %}"
    "{% generation %}{{ m.content }}{% endgeneration %}"
    "{% else %}[{{ m.role }}]{{ m.content }}{% endif %}"
    "{% if loop.last %}{% break %}{% endif %}{% endfor %}"
)

FAMILIES = {
    "default": DEFAULT_SYSTEM,
    "falsy": FALSY_DEFAULT,
    "dated": DATED,
    "none": NO_SYSTEM,
    "merged": MERGED,
    "thinking": THINKING,
    "training": TRAINING,
}


def build(source: str) -> ChatTemplate:
    return ChatTemplate(source, {"bos_token": "<s>", "eos_token": "</s>"})


def text(template: ChatTemplate, system: str, user: str, prefill: str = "") -> str:
    segments = template.segments(Messages(system, user, prefill, DECODING))
    return "".join(segment.text for segment in segments)


@pytest.mark.parametrize(
    ("family", "role", "default"),
    [
        ("default", "turn", "You are Smol."),
        ("falsy", "turn", "You are Q."),
        ("dated", "turn", None),
        ("none", "none", None),
        ("merged", "inside_user_turn", None),
        ("thinking", "turn", None),
        ("training", "turn", None),
    ],
)
def test_what_a_template_does_with_a_system_text_is_found(
    family: str, role: str, default: str | None
) -> None:
    template = build(FAMILIES[family])
    assert (template.system_role, template.default_system_text) == (role, default)
    assert template.has_system_role is (role != "none")


@pytest.mark.parametrize("family", ["default", "falsy"])
def test_an_empty_system_turn_is_sent_and_is_not_the_default(family: str) -> None:
    sent = text(build(FAMILIES[family]), "", "Hi")
    assert sent == "[system][end]\n[user]Hi[end]\n[assistant]"


def test_the_date_is_pinned_and_recorded() -> None:
    template = build(DATED)
    sent = text(template, "", "Hi")
    assert sent == "<s>[system]Today Date: 26 Jul 2024\n\n[eot][user]Hi[eot][assistant]"
    report = template.report()
    assert report["date"] == "2024-07-26"
    assert report["date_texts"] == ["26 Jul 2024"]
    assert report["bos_in_template"]


def test_contents_are_not_trimmed() -> None:
    assert "[user] Hi \n[eot]" in text(build(DATED), " S ", " Hi \n")
    assert "\n\n S [eot]" in text(build(DATED), " S ", "Hi")


def test_a_system_text_without_a_place_is_refused_and_says_what_to_set() -> None:
    template = build(NO_SYSTEM)
    with pytest.raises(NongrataError, match="set role_placement: user"):
        text(template, "You are a cook.", "Hi")
    assert text(template, "", "Hi") == "<s>[user]\nHi[eot]\n[model]\n"


def test_a_template_that_drops_the_system_text_has_no_system_role() -> None:
    template = build("{% for m in messages if m.role == 'user' %}[u]{{ m.content }}{% endfor %}")
    assert template.system_role == "none"


def test_a_system_text_inside_the_users_turn_leaves_nothing_behind_when_empty() -> None:
    template = build(MERGED)
    assert text(template, "S", "Hi") == "<s>[INST] S\n\nHi[/INST]"
    assert text(template, "", "Hi") == "<s>[INST] Hi[/INST]"


def test_thinking_is_switched_off_where_the_template_can() -> None:
    template = build(THINKING)
    assert template.report()["pinned"] == {"enable_thinking": False}
    assert text(template, "", "Hi").endswith("[assistant][think][/think]")
    assert build(DEFAULT_SYSTEM).report()["pinned"] == {}


def test_the_generation_prompt_is_reported_and_the_prefill_follows_it() -> None:
    template = build(DEFAULT_SYSTEM)
    assert template.report()["generation_prompt"] == "[assistant]"
    assert text(template, "", "Hi", "Answer:").endswith("[assistant]Answer:")
    last = template.segments(Messages("", "Hi", "Answer:", DECODING))[-1]
    assert last.is_content


def test_the_report_shows_the_skeleton() -> None:
    report = build(DEFAULT_SYSTEM).report()
    assert report["rendered"] == "[system]{system}[end]\n[user]{user}[end]\n[assistant]"
    assert report["default_system_text"] == "You are Smol."
    assert len(report["sha256"]) == 64


@pytest.mark.parametrize("family", FAMILIES)
@given(
    system=st.text(max_size=20),
    user=st.text(min_size=1, max_size=40) | st.sampled_from(["{{ 7*7 }}", "{% raw %}", "[end]"]),
    prefill=st.text(max_size=10),
)
def test_contents_arrive_as_they_are_whatever_they_are(
    family: str, system: str, user: str, prefill: str
) -> None:
    template = build(FAMILIES[family])
    if not template.has_system_role:
        system = ""
    segments = template.segments(Messages(system, user, prefill, DECODING))
    said = "".join(s.text for s in segments if s.is_content)
    assert said == system + user + prefill
    frame = "".join(s.text for s in segments if not s.is_content)
    plain = template.segments(Messages("x" if system else "", "y", "", DECODING))
    assert frame == "".join(s.text for s in plain if not s.is_content)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("{% for %}", "Expected"),
        ("{{ messages[7].content }}", "cannot be used"),
        ("{{ 1 // 0 }}", "ZeroDivisionError"),
        ("no contents at all", "0 times"),
        ("{% for m in messages %}{{ m.content }}{{ m.content }}{% endfor %}", "2 times"),
        ("{{ ''.__class__.__mro__ }}", "cannot be used"),
        ("{{ messages.append(1) }}", "cannot be used"),
        ("{% for i in range(10000000) %}{% endfor %}", "Range too big"),
    ],
)
def test_a_bad_template_is_one_clear_error(source: str, said: str) -> None:
    with pytest.raises(NongrataError, match=said):
        ChatTemplate(source)


def test_a_templates_message_cannot_write_to_the_terminal() -> None:
    with pytest.raises(NongrataError) as caught:
        ChatTemplate("{{ raise_exception('\x1b[2Jgone') }}")
    assert "\x1b" not in str(caught.value)


def test_tojson_is_that_of_the_transformers_library() -> None:
    template = ChatTemplate("{{ {'a': '<é>'} | tojson }}{{ messages[0].content }}")
    assert text(template, "", "Hi").startswith('{"a": "<é>"}')
