from __future__ import annotations

from pathlib import Path

import pytest

from nongrata.errors import NongrataError
from nongrata.hub import cached_file, fetch_file

REVISION = "c30699e8356da336a370243923dbaf21066bb9fe"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("GatedRepoError", "accept its terms"),
        ("RepositoryNotFoundError", "no such data set, or it is private"),
        ("RevisionNotFoundError", "it has no commit c30699e8"),
        ("LocalEntryNotFoundError", "is not in the cache and the Hub cannot be reached"),
        ("OfflineModeIsEnabled", "is not in the cache and the Hub cannot be reached"),
        ("EntryNotFoundError", "it has no file 'all/x.parquet'"),
        ("LocalTokenNotFoundError", "set HF_TOKEN"),
        ("HfHubHTTPError", "could not be fetched"),
    ],
)
def test_the_hub_says_no_in_one_sentence(name: str, said: str) -> None:
    from huggingface_hub import errors

    # the constructors ask for a response; what is caught is the type
    error = getattr(errors, name).__new__(getattr(errors, name))

    def download(**_: str) -> str:
        raise error

    with pytest.raises(NongrataError) as caught:
        fetch_file("cais/mmlu", "all/x.parquet", REVISION, kind="dataset", download=download)
    assert said in str(caught.value)
    assert str(caught.value).startswith("Hub data set cais/mmlu: ")
    assert "\n" not in str(caught.value)


def test_what_is_not_in_the_cache_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    assert cached_file("no/such", "x.gguf", REVISION, kind="model") is None
