from __future__ import annotations

import copy
from typing import Any

import pytest

from nongrata.errors import NongrataError
from nongrata.loading import load_study
from nongrata.presets import PRESETS, load_preset
from nongrata.study import Study
from nongrata.study_schema import study_schema
from nongrata.yaml_files import dump_yaml, parse_yaml, validate
from studies import small_study


def mistake(values: dict[str, Any]) -> str:
    """What is said about a study file that holds these values."""
    with pytest.raises(NongrataError) as caught:
        validate(Study, parse_yaml(dump_yaml(values), "s.yaml"))
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("s.yaml:")
    return str(caught.value)


def changed(*path: Any, to: Any) -> dict[str, Any]:
    values = copy.deepcopy(small_study())
    node: Any = values
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = to
    return values


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_are_valid_and_survive_a_round_trip(preset: str) -> None:
    study = load_preset(preset)
    again = validate(Study, parse_yaml(dump_yaml(study.model_dump(mode="json")), "x"))
    assert again == study


def test_the_template_that_init_writes_is_valid() -> None:
    from importlib import resources

    text = resources.files("nongrata.presets").joinpath("template.yaml").read_text("utf-8")
    study = validate(Study, parse_yaml(text, "template"))
    assert study.shape == (2, 2, 2)


def test_factors_are_open() -> None:
    values = small_study()
    values["factors"] += [
        {"name": "option_order", "sets": "choice_order", "levels": ["as_given", "rotated:1"]},
        {"name": "voice", "levels": [{"id": "x"}, {"id": "y", "note": "changes nothing"}]},
    ]
    study = Study.model_validate(values)
    assert study.shape == (2, 2, 3, 2, 2)
    assert len(list(study.configurations())) == 48
    assert study.factors[3].levels[1].id == "rotated-1"


def test_levels_with_plain_values_keep_their_values() -> None:
    study = Study.model_validate(small_study())
    values = [study.resolve(c)[1].temperature for c in study.configurations()]
    assert values == [0.0, 0.5, 1.0] * 4


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (
            changed("factors", 0, "levels", 0, "slots", to={"persona_promt": "You are {persona}."}),
            "did you mean 'persona_prompt'?",
        ),
        (
            changed("factors", 1, "levels", 0, "slots", to={"instruction": "I am {persona}"}),
            "not among prompt.persona_slots",
        ),
        (
            changed("factors", 1, "levels", 1, "slots", "reminder", to="You are {name}"),
            "only {persona} is known",
        ),
        (changed("factors", 1, "levels", 1, "slots", "reminder", to="a { b"), "a lone '{'"),
        (changed("factors", 1, "levels", 0, "set", to={"temprature": 1}), "did you mean 'tempera"),
        (changed("factors", 1, "levels", 0, "set", to={"temperature": 1}), "given by two factors"),
        (changed("factors", 2, "levels", to=[0, 0.5, 0.5]), "two levels called '0.5'"),
        (changed("factors", 2, "levels", to=[0, -1]), "greater than or equal to 0"),
        (changed("factors", 2, "name", to="persona"), "not a free factor name"),
        (changed("factors", 2, "name", to="elicitation"), "is used for two"),
        (changed("factors", 1, "levels", 0, "sub", to={}), "name different sub-factors"),
        (changed("settings", to={"layout": ["context", "question"]}), "choices and question"),
        (changed("settings", to={"cloze_format": "x"}), "cloze_format must contain {choice}"),
        (changed("settings", to={"max_tokens": 16, "label": "A"}), "did you mean 'labels'?"),
        (changed("models", to=[]), "at least 1 item"),
        (changed("models", 0, "engine", to="gpt"), "models.0"),
        (changed("prompt", to={"user": ["instruction"]}), "'question' must stand once"),
        (changed("prompt", to={"prefill": ["cue"]}), "is filled by no factor"),
        (changed("questions", "sources", 0, "formt", to="x"), "did you mean 'format'?"),
        (changed("personas", "list", 0, "txt", to="x"), "did you mean 'text'?"),
        (changed("replicates", to=0), "replicates"),
        (changed("seed", to=float("nan")), "seed"),
        (changed("settings", to={"stop": [""]}), "an empty text under stop"),
        (changed("factors", 2, "name", to="theta"), "'theta' is not a free factor name"),
        (
            changed("factors", 1, "levels", to=[{"id": "a", "sub": {"domain": "x"}}]),
            "'domain' is not a free factor name",
        ),
        (changed("replicates", to=True), "input should be a number (found True)"),
        (changed("questions", "sources", 0, "take", to="12"), "input should be a number"),
        (changed("factors", 2, "levels", to=[True]), "input should be a number"),
        (changed("models", 0, "factor_sd", to={"tusk": 1}), "did you mean 'task'?"),
        (changed("models", 0, "engine", to="simulatd"), "did you mean 'simulated'?"),
        (changed("questions", "sources", 0, "format", to="startr"), "did you mean 'starter'?"),
        (changed("models", 0, "refused", to=0.99), "must add up to less than 1"),
        (changed("prompt", to={"persona_slots": ["persona_promt"]}), "is no slot of a turn"),
        (changed("nongrata", to=2), "nongrata"),
    ],
)
def test_a_mistake_is_one_sentence(values: dict[str, Any], says: str) -> None:
    assert says in mistake(values)


def test_a_mistake_names_its_line() -> None:
    values = changed("factors", 1, "levels", 1, "slots", "reminder", to="You are {name}")
    text = dump_yaml(values)
    line = next(i for i, row in enumerate(text.split("\n"), 1) if "{name}" in row)
    assert mistake(values).startswith(f"s.yaml:{line}, factors.1.levels.1.slots.reminder: ")


def test_overrides_reach_into_lists_by_id() -> None:
    found = load_study(
        "smoke",
        ["models.simulated.ability=2.5", "factors.temperature.levels=[0, 1]", "title=a: b"][:2],
    ).study
    assert found.models[0].ability == 2.5
    assert found.shape == (4, 4, 2)


def test_overrides_reach_ids_with_dots() -> None:
    commit = "0a" * 20
    found = load_study("paper", [f"models.llama-3.2-1b-instruct.hub.revision={commit}"]).study
    assert found.models[0].unpinned() is None
    assert found.models[1].unpinned() == ("hub", "revision")


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("replicats=2", "did you mean 'replicates'?"),
        ("models.simulatd.ability=1", "did you mean 'simulated'?"),
        ("seed.x=1", "is a plain value"),
        ("seed", "KEY.KEY=VALUE"),
        ("seed=[", "not YAML"),
    ],
)
def test_a_wrong_override_says_so(override: str, says: str) -> None:
    with pytest.raises(NongrataError, match=says.replace("?", r"\?").replace(".", r"\.")):
        load_study("smoke", [override])


def test_a_study_that_does_not_exist_is_one_sentence() -> None:
    with pytest.raises(NongrataError, match="did you mean the preset 'paper'"):
        load_study("papre")


@pytest.mark.parametrize(
    ("personas", "says"),
    [
        ("{preset: published, only: [a-man, a-man]}", "'a-man' is chosen twice"),
        ("{list: [{id: x, text: hi}, {id: y, text: hi}]}", "have the same text 'hi'"),
        ("{preset: published, list: [{id: a-man, text: x}]}", "ids occur twice: a-man"),
    ],
)
def test_a_label_that_would_count_twice_is_refused(personas: str, says: str) -> None:
    with pytest.raises(NongrataError, match=says):
        load_study("smoke", [f"personas={personas}"]).personas()


def test_labels_may_be_the_number_1() -> None:
    assert Study.model_validate(small_study(settings={"labels": 1})).settings.labels == "1"


def test_a_persona_that_does_not_exist_is_one_sentence() -> None:
    loaded = load_study("smoke", ["personas.only=[a-humann]"])
    with pytest.raises(NongrataError, match="did you mean 'a-human'"):
        loaded.personas()


def test_the_published_schema_describes_what_is_accepted() -> None:
    schema = study_schema()
    jsonschema = pytest.importorskip("jsonschema")
    checker = jsonschema.Draft202012Validator(schema)
    for preset in PRESETS:
        from nongrata.presets import preset_document

        assert not list(checker.iter_errors(preset_document(preset).data))
    assert list(checker.iter_errors(small_study(replicats=1)))


def test_a_mistake_in_an_override_names_the_override() -> None:
    with pytest.raises(NongrataError, match=r"^--set settings\.top_p=0: .*greater than 0"):
        load_study("smoke", ["settings.top_p=0"])


@pytest.mark.parametrize("field", ["key_env", "base_url"])
def test_what_may_be_a_secret_is_not_repeated(field: str) -> None:
    model = {"id": "m", "engine": "openai", "model": "m", field: "sk-SECRET://u:SECRET@h"}
    said = mistake(changed("models", to=[model]))
    assert field in said
    assert "SECRET" not in said


def test_a_folder_named_like_a_preset_does_not_hide_it(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "smoke").mkdir()
    assert load_study("smoke").study.name == "smoke"
