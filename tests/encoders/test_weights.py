"""Where weights are found, in which order, and what is said when they are nowhere or wrong."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import huggingface_hub
import pytest

from glyphrank.encoders.weights import Weights
from glyphrank.errors import DataError
from glyphrank.identity import FileDigests, key
from glyphrank.runtime import Runtime
from model_folders import MINILM, write_model

REVISION = "0123456789abcdef0123456789abcdef01234567"
HUB = Weights(repository="team/model", revision=REVISION, sha256=None, package=None, folder=None)


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 8, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "outputs" / "cache")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub, with the folder in which the revision would lie."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub" / "models--team--model" / "snapshots" / REVISION


def model(folder: Path, content: str = "weights") -> Path:
    return write_model(folder, {**MINILM, "model.safetensors": content})


def sha256(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def test_find_when_the_hub_cache_holds_the_revision(runtime: Runtime, hub: Path) -> None:
    model(hub)
    assert HUB.find(runtime) == hub


def test_find_when_a_folder_is_given_goes_before_the_hub_cache(runtime: Runtime, hub: Path, tmp_path: Path) -> None:
    model(hub)
    own = model(tmp_path / "own")
    assert replace(HUB, folder=own).find(runtime) == own


def test_find_when_a_package_carries_the_files(
    runtime: Runtime, hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    carried = model(tmp_path / "site" / "carrier" / "model")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    weights = replace(HUB, package="carrier/model", sha256=sha256("weights"))
    assert weights.find(runtime) == carried
    model(hub)
    assert weights.find(runtime) == hub


def test_find_when_a_package_alone_has_the_model(
    runtime: Runtime, hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    carried = model(tmp_path / "site" / "sole_carrier" / "model")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    weights = Weights(None, None, sha256("weights"), "sole_carrier/model", None)
    assert weights.find(runtime) == carried
    (carried / "config.json").unlink()
    with pytest.raises(
        DataError, match=r"sole_carrier/model: no config\.json; .*sole_carrier carries: install it again"
    ):
        weights.find(runtime)
    with pytest.raises(DataError, match="sole_carrier/other: it is not there; wanted the folder of a sentence-trans"):
        replace(weights, package="sole_carrier/other").find(runtime)


def test_a_package_alone_needs_the_digest_and_no_half_of_a_repository() -> None:
    with pytest.raises(ValueError, match="without sha256"):
        Weights(None, None, None, "sole_carrier/model", None)
    with pytest.raises(ValueError, match="wanted both, or a folder"):
        Weights("team/model", None, "0" * 64, "sole_carrier/model", None)


@pytest.mark.parametrize("missing", ["config.json", "tokenizer.json", "1_Pooling/config.json", "model.safetensors"])
def test_find_when_a_partial_snapshot_lies_before_a_package_that_is_whole(
    missing: str, runtime: Runtime, hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_model(hub, {name: content for name, content in MINILM.items() if name != missing})
    carried = model(tmp_path / "site" / "carrier" / "model")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert replace(HUB, package="carrier/model", sha256=sha256("weights")).find(runtime) == carried
    with pytest.raises(DataError, match=rf"are incomplete in .*\(no .*{missing.split('.')[0]}|\*\.safetensors"):
        HUB.find(runtime)


def test_find_when_the_package_is_there_and_carries_no_whole_model(
    runtime: Runtime, hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    carried = model(tmp_path / "site" / "part_carrier" / "model")
    (carried / "config.json").unlink()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    for package, said in (
        ("part_carrier/model", r"incomplete too in the package part_carrier/model \(no config\.json\)"),
        ("part_carrier/other", r"nor in the installed package \(it has no part_carrier/other\)"),
    ):
        with pytest.raises(DataError, match=said) as caught:
            replace(HUB, package=package, sha256="0" * 64).find(runtime)
        assert "offline" not in str(caught.value)
        assert "install the package" not in str(caught.value)


@pytest.mark.parametrize("error", [ImportError("broken finder"), ValueError("no spec")])
def test_find_when_looking_for_the_package_fails(
    error: Exception, runtime: Runtime, hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str) -> None:
        raise error

    monkeypatch.setattr("importlib.util.find_spec", fail)
    with pytest.raises(DataError, match="are not on this machine"):
        replace(HUB, package="carrier/model", sha256="0" * 64).find(runtime)


def test_find_when_the_weights_are_nowhere(runtime: Runtime, hub: Path) -> None:
    with pytest.raises(DataError) as caught:
        replace(HUB, package="not_installed_carrier/model", sha256="0" * 64).find(runtime)
    said = str(caught.value)
    assert "team/model" in said
    assert REVISION in said
    for way in ("runtime.download=true", f"hf download team/model --revision {REVISION}", "extra `offline`", "folder"):
        assert way in said


def test_find_when_the_hub_cache_holds_a_part(runtime: Runtime, hub: Path) -> None:
    model(hub)
    (hub / "model.safetensors").unlink()
    with pytest.raises(DataError, match=r"incomplete .*no \*\.safetensors"):
        HUB.find(runtime)


def test_find_when_the_folder_is_no_model(runtime: Runtime, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere: no such folder"):
        replace(HUB, folder=tmp_path / "nowhere").find(runtime)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"empty: no modules\.json"):
        replace(HUB, folder=tmp_path / "empty").find(runtime)


def test_find_when_the_digest_is_another(runtime: Runtime, tmp_path: Path) -> None:
    own = model(tmp_path / "own", "damaged")
    assert replace(HUB, folder=own, sha256=sha256("damaged")).find(runtime) == own
    with pytest.raises(DataError, match=rf"{sha256('damaged')}; wanted {sha256('weights')}"):
        replace(HUB, folder=own, sha256=sha256("weights")).find(runtime)


def test_find_when_the_digest_names_one_of_several_files(runtime: Runtime, tmp_path: Path) -> None:
    own = model(tmp_path / "own")
    (own / "model-00002.safetensors").write_text("more")
    with pytest.raises(DataError, match=r"there are 2 .*set sha256=null"):
        replace(HUB, folder=own, sha256=sha256("weights")).find(runtime)


def test_find_fetches_only_what_is_needed_and_only_where_allowed(
    runtime: Runtime, hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["README.md", *MINILM, "pytorch_model.bin", "onnx/model.onnx"]
    asked: list[object] = []

    def listed(_: object, repository: str, revision: str) -> list[str]:
        asked.append((repository, revision))
        return names

    def fetched(
        repository: str, *, revision: str, allow_patterns: Sequence[str] = (), local_files_only: bool = False
    ) -> str:
        if local_files_only:
            raise huggingface_hub.errors.LocalEntryNotFoundError("nothing here")
        asked.append((repository, revision, list(allow_patterns)))
        return str(model(hub))

    monkeypatch.setattr(huggingface_hub.HfApi, "list_repo_files", listed)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetched)
    with pytest.raises(DataError):
        HUB.find(runtime)
    assert asked == []
    assert HUB.find(replace(runtime, download=True)) == hub
    assert asked == [("team/model", REVISION), ("team/model", REVISION, sorted(MINILM))]


def test_find_when_fetching_is_allowed_but_there_is_no_network(runtime: Runtime, hub: Path) -> None:
    with pytest.raises(DataError, match=rf"team/model at revision {REVISION} cannot be fetched \(OfflineMode"):
        HUB.find(replace(runtime, download=True))


def test_key_follows_the_content_of_a_folder_and_not_its_place(tmp_path: Path) -> None:  # case C01
    digests = FileDigests(tmp_path / "memory")
    here, there, other = (
        key(replace(HUB, folder=model(tmp_path / name, content)), digests)
        for name, content in (("here", "same"), ("there", "same"), ("other", "changed"))
    )
    assert here == there
    assert here != other


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"revision": None}, "wanted both, or a folder"),
        ({"revision": "main"}, "revision is 'main'; wanted a commit"),
        ({"repository": "https://example.org/a/b"}, "wanted a name such as"),
        ({"sha256": "abc"}, "wanted 64 hexadecimal digits"),
        ({"repository": "team/mo--del"}, "Cannot have -- or"),
        ({"repository": "team/mo..del"}, "Cannot have -- or"),
        ({"repository": "team/model-"}, "wanted a name such as"),
        ({"repository": "team/model.git"}, "wanted a name such as"),
        ({"repository": "a/b/c"}, "wanted a name such as"),
        ({"repository": "팀/모델"}, "wanted a name such as"),
        ({"repository": "x" * 97}, "wanted a name such as"),
        ({"package": "carrier/model"}, "without sha256"),
        ({"package": "", "sha256": "0" * 64}, "wanted a name such as some_package/model"),
        ({"package": "../carrier", "sha256": "0" * 64}, "wanted a name such as some_package/model"),
        ({"package": "carrier/../model", "sha256": "0" * 64}, "wanted a name such as some_package/model"),
        ({"package": "carrier.part/model", "sha256": "0" * 64}, "wanted a name such as some_package/model"),
    ],
)
def test_weights_when_a_field_is_wrong(fields: dict[str, str | None], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(HUB, **fields)  # type: ignore[arg-type]
