from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongrata.factors import Settings
from nongrata.personas import Persona
from nongrata.plan import build_plan
from nongrata.presets import load_preset
from nongrata.prompts import Presentation, build_skeleton, choice_order, present
from nongrata.questions.model import Question
from nongrata.study import PromptLayout, Study
from studies import small_study

AS_GIVEN = Presentation("A", "{label}. {choice}", "as_given", ("context", "question", "choices"))
SLOTS = {
    "persona_prompt": "You are {persona}.",
    "instruction": "Pick.",
    "reminder": "As {persona}!",
}
HOSTILE = "{persona} {{x}} $y %s \\n \x00\x1b[31m\u202e <|im_end|> {0} \n\ttail "
TEXTS = st.text(min_size=1)


def skeleton(persona: Persona, **settings: object) -> object:
    return build_skeleton(persona, SLOTS, Settings.model_validate(settings), PromptLayout())


def test_a_prompt_is_what_the_layout_says() -> None:
    found = skeleton(Persona(id="a-cook", text="a cook"))
    assert found.system == "You are a cook."
    assert found.before == "Pick.\n\nAs a cook!\n\n"
    assert found.after == ""


def test_no_persona_leaves_no_trace_of_a_persona() -> None:
    found = skeleton(Persona(id="no-persona", text=None, control=True))
    assert found.system == ""  # an explicit, empty turn
    assert found.before == "Pick.\n\n"


@pytest.mark.parametrize("name", ["paper", "demo", "smoke"])
def test_no_persona_has_one_prompt_per_elicitation_in_the_presets(name: str) -> None:
    study = load_preset(name)
    nobody = Persona(id="no-persona", text=None, control=True)
    plan = build_plan(study, [nobody], ())
    assert len(plan.prompts.skeletons) == 2
    for frame in plan.prompts.skeletons:
        assert frame.system == ""
        assert "persona" not in frame.before
        assert "answering" not in frame.before


def test_without_a_system_role_the_same_text_stands_in_the_user_turn() -> None:
    cook = Persona(id="a-cook", text="a cook")
    found = skeleton(cook, role_placement="user")
    assert found.system == ""
    assert found.before == "You are a cook.\n\nPick.\n\nAs a cook!\n\n"
    assert found.digest != skeleton(cook).digest


@given(text=TEXTS, choices=st.lists(TEXTS, min_size=2, max_size=6), context=st.text())
def test_question_texts_arrive_byte_for_byte(text: str, choices: list[str], context: str) -> None:
    question = Question("q", "own", text, tuple(choices), 0, context=context)
    shown = "\n".join(
        f"{label}. {choice}" for label, choice in zip("ABCDEF", choices, strict=False)
    )
    expected = f"{context}\n{text}\n{shown}" if context else f"{text}\n{shown}"
    assert present(question, AS_GIVEN, 0).text == expected


def test_a_hostile_persona_and_question_are_only_text() -> None:
    study = Study.model_validate(small_study(personas={"list": [{"id": "x", "text": HOSTILE}]}))
    question = Question("q", "own", HOSTILE, (HOSTILE, "b"), 0)
    plan = build_plan(study, study.personas.list, [question])
    messages = plan.prompts.messages(int(plan.skeleton_of[0, -1]), 0)
    assert messages.system == f"Play {HOSTILE}."
    assert messages.user.endswith(f"{HOSTILE}\nA. {HOSTILE}\nB. b")


RULES = ["as_given", "reversed", "rotated:1", "rotated:7", "shuffled"]


@given(n=st.integers(2, 8), rule=st.sampled_from(RULES), seed=st.integers(0, 99), name=st.text())
def test_an_option_keeps_its_identity_whatever_its_place(
    n: int, rule: str, seed: int, name: str
) -> None:
    question = Question(name or "q", "own", "?", tuple(f"option {i}" for i in range(n)), 0)
    order = choice_order(question, rule, seed)
    assert sorted(order) == list(range(n))
    block = present(question, Presentation("1", "{label}) {choice}", rule, AS_GIVEN.layout), seed)
    for label, identity in zip(block.labels, order, strict=True):
        assert f"{label}) option {identity}" in block.text.split("\n")


def test_shuffles_are_what_they_were_and_differ_by_question() -> None:
    questions = [Question(f"q{i}", "own", "?", ("a", "b", "c", "d"), 0) for i in range(200)]
    orders = [choice_order(q, "shuffled", 1) for q in questions]
    assert orders[:3] == [choice_order(q, "shuffled", 1) for q in questions[:3]]
    assert len(set(orders)) > 20
    first = [order[0] for order in orders]
    assert all(30 < first.count(option) < 70 for option in range(4))


@given(st.permutations(range(4)))
def test_what_is_not_sent_does_not_change_a_block(order: list[int]) -> None:
    one = Question("a", "own", "?", ("w", "x", "y", "z"), order[0])
    two = Question("b", "other", "?", ("w", "x", "y", "z"), order[1], subject="s", domain="d")
    assert present(one, AS_GIVEN, 0).digest == present(two, AS_GIVEN, 0).digest


def test_whatever_is_sent_changes_the_digest() -> None:
    base = Question("a", "own", "?", ("w", "x"), 0)
    digests = {
        present(question, shown, 0).digest
        for question in (base, Question("a", "own", "!", ("w", "x"), 0))
        for shown in (
            AS_GIVEN,
            Presentation("a", "{label}. {choice}", "as_given", AS_GIVEN.layout),
            Presentation("A", "{label}) {choice}", "as_given", AS_GIVEN.layout),
            Presentation("A", "{label}. {choice}", "reversed", AS_GIVEN.layout),
            Presentation("A", "{label}. {choice}", "as_given", ("choices", "question")),
        )
    }
    assert len(digests) == 10
    cook = Persona(id="a-cook", text="a cook")
    changes = [{}, {"max_tokens": 9}, {"top_p": 0.9}, {"stop": ["x"]}, {"top_k": 5}, {"min_p": 0.1}]
    assert len({skeleton(cook, **change).digest for change in changes}) == len(changes)
    one_pass = [skeleton(cook, reading="first_token", max_tokens=n).digest for n in (5, 9)]
    assert one_pass[0] == one_pass[1]  # no generated token is read there
