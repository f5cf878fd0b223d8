"""Any set in the BEIR layout as it lies on the Hugging Face hub: tables of a corpus, queries and judgements."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from glyphrank.datasets.beir_hub_corpus import read_corpus
from glyphrank.datasets.beir_hub_judgements import read_judgements, read_queries
from glyphrank.datasets.beir_hub_places import find_place, may_be_read
from glyphrank.datasets.fingerprint import fingerprint
from glyphrank.datasets.hub import Published, place_of
from glyphrank.datasets.relevance import notes_of, relevance
from glyphrank.datasets.roots import watched
from glyphrank.faults import Blocks, Faults
from glyphrank.identity import FileDigests, Location
from glyphrank.records import Task
from glyphrank.runtime import Runtime


@dataclass(frozen=True)
class BeirHub:
    """mteb's copies, ViDoRe, KoViDoRe, Jina-VDR, MIRACL-Vision and others: parquet files or JSON lines.

    What table a file belongs to, the dataset card says, or its name. Ids are text as written, whole numbers in digits;
    other numbers are refused. Items have the text of `text` or `markdown`, and the picture of `image`: bytes, a path,
    or a row of a table of pictures. Scores above 0 are relevant, graded, 0 or less was judged not relevant. Only
    queries that the judgements of the split name belong to the split; judgements that are not divided speak of all.
    Further columns of texts and numbers are slices.

    Attributes:
        root: folder with the repository's files; None: the hub's cache, or the hub.
        repository: name on the hub, e.g. `vidore/docvqa_test_subsampled_beir`; not looked at where there is a root.
        revision: commit of the repository.
        subset: such as a language, of repositories that have several; None where there is but one.
        split: of the judgements, and of corpus and queries where they are divided too.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ("pyarrow",)
    root: Location | None
    repository: str | None
    revision: str | None
    subset: str | None
    split: str

    def __post_init__(self) -> None:
        if (self.repository is None) != (self.revision is None):
            raise ValueError(
                f"repository is {self.repository!r} and revision {self.revision!r}; wanted both or neither"
            )
        if self.root is None and self.repository is None:
            raise ValueError("root is None and repository None; wanted a folder, or a repository with its revision")
        _ = self._published
        if self.subset == "":
            raise ValueError("subset is ''; wanted a name, or null")
        if not self.split:
            raise ValueError("split is ''; wanted a name such as test")

    def files(self, runtime: Runtime) -> tuple[Path, ...] | None:
        """All tables and cards, chosen or not, since a choice depends on all names; see `loading.ReadsFiles`."""
        folder = place_of(self.root, self._published)
        return None if folder is None else watched(folder, may_be_read)

    def load(self, runtime: Runtime) -> Task:
        """Queries, items and relevance in the order of the files; pictures are not read.

        Raises:
            DataError: tables are missing or ambiguous, files damaged, ids of another type, missing or there twice,
                judgements contradict each other or name unknown ids. The message names file, row and id; the faults of
                all files come together.
        """
        place = find_place(self.root, self._published, self.split, self.subset, runtime)
        blocks = Blocks()
        corpus = read_corpus(place.folder, place.tables, FileDigests(runtime.cache / "files"), blocks)
        queries, asked = read_queries(place.folder, place.tables.queries, blocks)
        qrels = read_judgements(place.folder, place.tables.qrels, blocks)
        faults = Faults(place.folder / place.tables.qrels.name, shown=50)
        found = relevance(qrels, asked, corpus.known, faults)
        with blocks.keep():
            faults.stop()
        blocks.stop()
        if place.tables.qrels.split is not None:
            queries = [query for query in queries if query.id in found.judged]
        return Task(
            name=place.name,
            queries=tuple(queries),
            items=corpus.items,
            relevant=found.relevant,
            fingerprint=fingerprint(queries, corpus.items, found.relevant),
            notes=(*corpus.notes, *notes_of(qrels, place.tables.qrels.name, corpus.items, corpus.known.table)),
        )

    @property
    def _published(self) -> Published | None:
        return Published(self.repository, self.revision) if self.repository and self.revision else None
