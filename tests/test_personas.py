"""Labels: the published selection is traceable and balanced; files of the user's own are read."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nongrata.errors import NongrataError
from nongrata.persona_files import load_personas, published_personas, select
from nongrata.personas import Persona, persona_warnings

PUBLISHED = published_personas()
LABELS = [p for p in PUBLISHED if not p.control]
PAGE = Path(__file__).parents[1] / "docs" / "personas.md"


def load(tmp_path: Path, name: str, text: str) -> tuple[Persona, ...]:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return load_personas(path)


def refusal(tmp_path: Path, name: str, text: str) -> NongrataError:
    with pytest.raises(NongrataError) as caught:
        load(tmp_path, name, text)
    error = caught.value
    assert error.where is not None
    assert error.where.startswith(str(tmp_path / name))
    assert "\n" not in str(error)
    return error


def place(error: NongrataError) -> str:
    return Path(error.where or "").name


class TestPublished:
    def test_counts_and_order(self) -> None:
        assert len(LABELS) == 39
        assert [(p.id, p.text) for p in PUBLISHED[39:]] == [
            ("a-human", "a human"),
            ("no-persona", None),
        ]
        assert not any(p.control for p in PUBLISHED[:39])

    def test_unique(self) -> None:
        assert len({p.id for p in PUBLISHED}) == len({p.text for p in PUBLISHED}) == 41

    def test_ids_are_the_texts(self) -> None:
        for p in PUBLISHED:
            if p.text is not None:
                assert p.id == re.sub(r"[^a-z0-9]+", "-", p.text.lower())

    def test_groups_are_balanced(self) -> None:
        sizes = Counter(p.group for p in LABELS)
        assert len(sizes) >= 8
        assert "" not in sizes
        assert min(sizes.values()) >= 2
        assert max(sizes.values()) <= 8

    def test_opposites_are_mutual_and_of_one_group(self) -> None:
        by_id = {p.id: p for p in PUBLISHED}
        paired = [p for p in PUBLISHED if p.pair]
        for p in paired:
            assert by_id[p.pair or ""].pair == p.id
            assert by_id[p.pair or ""].group == p.group
        assert len(paired) == 22

    def test_texts_are_noun_phrases_with_the_right_article(self) -> None:
        for p in PUBLISHED[:40]:
            assert re.fullmatch(r"(a|an) [A-Za-z0-9 -]+", p.text or "")
        assert persona_warnings(PUBLISHED) == []

    def test_each_is_in_the_study_it_names(self, shared: Path) -> None:
        data = json.loads((shared / "data" / "personas_published.json").read_text("utf-8"))
        citations = {study["study"]: study["citation"] for study in data["studies"]}
        labels = {(entry["study"], entry["label"]) for entry in data["personas"]}

        def bare(label: str) -> str:
            return re.sub(r"^an? ", "", label)

        for p in PUBLISHED:
            match = re.fullmatch(r"(\w+) \((.+?) (\d{4}), (.+)\)", p.source)
            assert match
            key, authors, year, publication = match.groups()
            assert authors in citations[key]
            assert year in citations[key]
            assert publication in citations[key]
            if p.text is not None:
                as_published = p.published or p.text
                assert (key, as_published) in labels
                assert bare(as_published) == bare(p.text)
                assert p.published != p.text

    def test_none_is_called_after_a_person(self, shared: Path) -> None:
        data = json.loads((shared / "data" / "personas_published.json").read_text("utf-8"))
        names = {"Trump", "Obama"}
        for entry in data["personas"]:
            if entry["category"] in {"political_figure", "name", "name_from_country"}:
                names |= set(entry["label"].split())
        names -= {"from", "de"}
        for p in LABELS:
            assert not names & set((p.text or "").split())

    def test_page_has_the_same_table(self) -> None:
        by_id = {p.id: p for p in PUBLISHED}
        rows: list[tuple[str, ...]] = []
        group = ""
        for line in PAGE.read_text("utf-8").split("\n"):
            if heading := re.fullmatch(r"### (.+) \((\d+)\)", line):
                group = heading[1].lower()
                assert sum(p.group == group for p in PUBLISHED) == int(heading[2])
            elif line.startswith("|") and not line.startswith(("| label", "| ---")):
                rows.append((group, *(cell.strip() for cell in line[1:-1].split("|"))))
        assert rows == [
            (
                p.group,
                p.text or "NO PERSONA",
                (by_id[p.pair].text or "") if p.pair else "",
                p.published or "",
                p.source.partition(" (")[2].removesuffix(")"),
            )
            for p in PUBLISHED
        ]

    def test_examples_of_the_page_load(self, tmp_path: Path) -> None:
        page = PAGE.read_text("utf-8")
        (as_yaml,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
        (as_csv,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
        ids = [p.id for p in load(tmp_path, "a.yaml", as_yaml)]
        assert ids == ["a-chef", "early-bird", "night-owl", "an-adult", "no-persona"]
        assert [p.text for p in load(tmp_path, "a.csv", as_csv)] == [
            "a chef",
            "a cook, retired",
            None,
        ]


class TestPersona:
    @pytest.mark.parametrize("name", ["", "A", "a b", "-a", "é", "a\n", "a/b", "x" * 81])
    def test_refuses_what_is_no_slug(self, name: str) -> None:
        with pytest.raises(ValidationError, match="id"):
            Persona(id=name, text="a chef")

    @pytest.mark.parametrize("name", ["a", "7", "a-b_c.d"])
    def test_takes_slugs(self, name: str) -> None:
        assert Persona(id=name, text="a chef").id == name

    @pytest.mark.parametrize("text", ["", " ", "\n\t"])
    def test_refuses_empty_texts(self, text: str) -> None:
        with pytest.raises(ValidationError, match="the text is empty"):
            Persona(id="x", text=text, control=True)

    def test_only_a_control_may_have_no_text(self) -> None:
        assert Persona(id="x", text=None, control=True).text is None
        with pytest.raises(ValidationError, match="no control"):
            Persona(id="x", text=None)

    def test_refuses_unknown_fields_and_changes(self) -> None:
        with pytest.raises(ValidationError, match="groop"):
            Persona.model_validate({"id": "x", "text": "a chef", "groop": "y"})
        with pytest.raises(ValidationError, match="frozen"):
            Persona(id="x", text="a chef").text = "a cook"  # type: ignore[misc]

    def test_refuses_itself_as_opposite(self) -> None:
        with pytest.raises(ValidationError, match="opposite of itself"):
            Persona(id="x", text="a chef", pair="x")

    def test_schema_tells_the_form_of_an_id(self) -> None:
        pattern = Persona.model_json_schema()["properties"]["id"]["pattern"]
        assert re.search(pattern, "a-chef")
        assert not re.search(pattern, "A chef")


class TestYaml:
    def test_list_or_mapping_entries_or_texts(self, tmp_path: Path) -> None:
        entries = "- a chef\n- {id: b, text: a cook, control: true, group: x}\n"
        indented = "personas:\n" + "".join(f"  {line}\n" for line in entries.splitlines())
        found = load(tmp_path, "a.yaml", entries)
        assert found == load(tmp_path, "b.yml", indented)
        assert [p.id for p in found] == ["a-chef", "b"]
        assert found[1].control
        assert found[1].group == "x"

    @pytest.mark.parametrize(
        "text",
        ["None", "NA", "no", "TRUE-ish", "a chef ", " a", "x\ny", "{p} $x %s", "é", "<|im_end|>"],
    )
    def test_texts_are_kept(self, tmp_path: Path, text: str) -> None:
        source = yaml.safe_dump([{"id": "x", "text": text}], allow_unicode=True)
        assert load(tmp_path, "a.yaml", source)[0].text == text
        assert load(tmp_path, "b.yaml", json.dumps([{"id": "x", "text": text}]))[0].text == text

    def test_words_that_yaml_1_1_takes_for_booleans_stay_texts(self, tmp_path: Path) -> None:
        found = load(tmp_path, "a.yaml", "- no\n- {text: NA}\n- {text: None}\n- {text: on}")
        assert [p.text for p in found] == ["no", "NA", "None", "on"]

    def test_an_id_alone_is_a_published_one(self, tmp_path: Path) -> None:
        found = load(
            tmp_path, "a.yaml", "- {id: a-man}\n- {id: no-persona}\n- {id: x, text: a chef}"
        )
        assert found[:2] == select(PUBLISHED, ["a-man", "no-persona"])
        error = refusal(tmp_path, "a.yaml", "- a chef\n- {id: a-mam}\n")
        assert place(error) == "a.yaml:2, id"
        assert "did you mean 'a-man'?" in str(error)

    @pytest.mark.parametrize(
        ("text", "where", "says"),
        [
            ("", "a.yaml:1", "no list"),
            ("[]", "a.yaml", "holds no persona"),
            ("a chef", "a.yaml:1", "no list"),
            ("personas: 3", "a.yaml:1, personas", "no list"),
            ("personas: []\nseed: 1", "a.yaml:2, seed", "unknown key 'seed'"),
            ("- a chef\n- 7", "a.yaml:2, 1", "neither a mapping nor a text"),
            ("- a chef\n- {id: b}", "a.yaml:2, id", "no text"),
            ("- a chef\n- id: b\n  txet: c", "a.yaml:3, txet", "did you mean 'text'?"),
            ("- a chef\n- id: b\n  text: 60", "a.yaml:3, text", "put it in quotes"),
            ("- id: 7\n  text: a chef", "a.yaml:1, id", "put it in quotes"),
            ("- id: b\n  text: ''", "a.yaml:2, text", "the text is empty"),
            ("- id: b\n  text:\n", "a.yaml:1", "no text"),
            ("- id: b\n  text: c\n  control: maybe", "a.yaml:3, control", "bool"),
            ("- id: B\n  text: c", "a.yaml:1, id", "lower-case"),
            ("- text: 医者", "a.yaml:1, text", "write an id"),
            ("- id: [b]", "a.yaml:1, id", "string"),
            ("- a chef\n- a chef", "a.yaml:2", "given twice"),
            ("- a chef\n- {id: b, text: a chef}", "a.yaml:2, text", "the text 'a chef'"),
            ("- {id: b, text: c}\n- {id: b, text: d}", "a.yaml:2, id", "the id 'b' is given twice"),
            ("- {id: b, text: c, pair: bb}", "a.yaml:1, pair", "did you mean 'b'?"),
            ("- {id: b, text: c, pair: d}\n- {id: d, text: e}", "a.yaml:1, pair", "the reverse"),
            ("- id: b\n  id: c", "a.yaml:2", "given twice"),
            ("- [", "a.yaml:1", "not YAML"),
            ('- {id: x, text: "\\ud800"}', "a.yaml:1, text", "half a character"),
        ],
    )
    def test_mistakes(self, tmp_path: Path, text: str, where: str, says: str) -> None:
        error = refusal(tmp_path, "a.yaml", text)
        assert place(error) == where
        assert says in str(error)

    def test_escapes_in_a_text_do_not_reach_the_terminal(self, tmp_path: Path) -> None:
        error = refusal(tmp_path, "a.yaml", '- "a\\e[2J"\n- {id: b, text: "a\\e[2J"}')
        assert "\x1b" not in str(error)


class TestCsv:
    def test_fields(self, tmp_path: Path) -> None:
        found = load(
            tmp_path,
            "a.csv",
            "\ufeffid,text,group,control,pair\r\n,a chef,job,,\r\n\r\n"
            'b,"a ""quoted"", cook ",job,no,c\r\nc,"two\nlines",,TRUE,b\r\n',
        )
        assert [(p.id, p.text, p.group, p.control, p.pair) for p in found] == [
            ("a-chef", "a chef", "job", False, None),
            ("b", 'a "quoted", cook ', "job", False, "c"),
            ("c", "two\nlines", "", True, "b"),
        ]

    def test_words_that_loaders_lose_stay_texts(self, tmp_path: Path) -> None:
        words = ["None", "NA", "null", "TRUE", "0,1", "1,493", "35 - 44", "nan"]
        lines = "".join(f'"{word}"\n' for word in words)
        assert [p.text for p in load(tmp_path, "a.csv", "text\n" + lines)] == words

    def test_no_persona_must_be_meant(self, tmp_path: Path) -> None:
        (found,) = load(tmp_path, "a.csv", "id,text,control\nnone,,true\n")
        assert found.text is None
        error = refusal(tmp_path, "a.csv", "id,text,control\nx,a chef,\nnone,,\n")
        assert place(error) == "a.csv:3, text"
        assert "control=true" in str(error)
        assert "NO PERSONA" in str(error)

    def test_ids_alone_are_published_ones(self, tmp_path: Path) -> None:
        found = load(tmp_path, "a.csv", "id\na-woman\na-human\n")
        assert found == select(PUBLISHED, ["a-woman", "a-human"])

    @pytest.mark.parametrize(
        ("text", "where", "says"),
        [
            ("", "a.csv", "holds no persona"),
            ("text\n", "a.csv", "holds no persona"),
            ("group\nx\n", "a.csv:1", "no column 'text'"),
            ("text,grup\na,b\n", "a.csv:1", "did you mean 'group'?"),
            ("text;group\na;b\n", "a.csv:1", "commas"),
            ("text,text\na,b\n", "a.csv:1", "two columns"),
            ("text,group\na chef,x\na cook, retired,x\n", "a.csv:3", "3 cells"),
            ("text,group\na chef\n", "a.csv:2", "1 cells"),
            ("text,control\na chef,maybe\n", "a.csv:2, control", "true or false"),
            ('text\n"a\nb"\n  \n', "a.csv:4, text", "the text is empty"),
            ('text\n"a"b\n', "a.csv:2", "not CSV"),
            ("text\na chef\na chef\n", "a.csv:3", "given twice"),
            ("id\nnobody\n", "a.csv:2, id", "no published persona"),
        ],
    )
    def test_mistakes(self, tmp_path: Path, text: str, where: str, says: str) -> None:
        error = refusal(tmp_path, "a.csv", text)
        assert place(error) == where
        assert says in str(error)

    @given(
        texts=st.lists(
            st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip),
            min_size=1,
            max_size=5,
            unique=True,
        )
    )
    def test_texts_come_back_byte_for_byte(
        self, tmp_path_factory: pytest.TempPathFactory, texts: list[str]
    ) -> None:
        folder = tmp_path_factory.mktemp("round")
        written = io.StringIO(newline="")
        rows = csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n")
        rows.writerows([["id", "text"], *([f"p{n}", text] for n, text in enumerate(texts))])
        found = load(folder, "a.csv", written.getvalue())
        assert [p.text for p in found] == texts
        as_yaml = yaml.safe_dump([{"id": p.id, "text": p.text} for p in found])
        assert load(folder, "a.yaml", as_yaml) == found


class TestFiles:
    def test_other_forms_are_refused(self, tmp_path: Path) -> None:
        assert "give a .yaml or .csv file" in str(refusal(tmp_path, "a.txt", "a chef"))

    def test_missing_and_undecodable_files(self, tmp_path: Path) -> None:
        with pytest.raises(NongrataError, match="no such file"):
            load_personas(tmp_path / "none.csv")
        (tmp_path / "a.csv").write_bytes(b"text\n\xff\n")
        with pytest.raises(NongrataError, match="UTF-8"):
            load_personas(tmp_path / "a.csv")

    def test_the_preset_is_such_a_file(self) -> None:
        preset = Path(__file__).parents[1] / "src" / "nongrata" / "presets" / "personas.yaml"
        assert load_personas(preset) == PUBLISHED


class TestSelect:
    def test_order_is_that_of_the_ids(self) -> None:
        assert [p.id for p in select(PUBLISHED, ["no-persona", "a-man"])] == ["no-persona", "a-man"]

    def test_mistakes(self) -> None:
        with pytest.raises(NongrataError, match="did you mean 'a-farmer'"):
            select(PUBLISHED, ["a-famer"])
        with pytest.raises(NongrataError, match="chosen twice"):
            select(PUBLISHED, ["a-man", "a-man"])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("virtual assistant ", "white space"),
        (" male", "white space"),
        ("a chef\nand cook", "line break"),
        ("a chef\x1b[31m", "control character"),
        ("From now on, you are a recorder.", "ends a sentence"),
        ("a asexual person", "'an' is usual"),
        ("a 8 year old", "'an' is usual"),
        ("a 18 year old", "'an' is usual"),
        ("an sewer", "'a' is usual"),
    ],
)
def test_warns(text: str, fault: str) -> None:
    (warning,) = persona_warnings([Persona(id="x", text=text)])
    assert fault in warning
    assert warning.startswith("persona 'x'")
    assert warning.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        *("male", "35 - 44", "a one-armed man", "a European", "an hour-long talk", "a unique mind"),
        *("an MRI technician", "an uneducated person", "a 180 cm tall man", "a 1 year old"),
        *("an 8 year old", "Aparna", "analyst", "anesthesiologist"),
    ],
)
def test_does_not_warn(text: str) -> None:
    assert persona_warnings([Persona(id="x", text=text)]) == []
