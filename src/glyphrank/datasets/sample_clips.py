"""Clips to try things on: drawn scenes with signs, crossed so that neither seeing nor reading alone finds a clip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from glyphrank.datasets import sample_clips_design as design
from glyphrank.datasets.folder import Folder
from glyphrank.datasets.generated import digest_of, made_once, write_lines
from glyphrank.datasets.roots import watched
from glyphrank.datasets.sample_clips_design import Clip
from glyphrank.datasets.sample_clips_video import draw_clip, write_video
from glyphrank.datasets.sample_clips_words import queries
from glyphrank.identity import FileDigests
from glyphrank.records import Task
from glyphrank.runtime import Runtime


@dataclass(frozen=True)
class SampleClips:
    """Generated clips of 2.4 s, 320 x 180 pixels, and three queries for each, with the slices `place` and `motion`.

    Every query names a whole scene (place, thing, colour, motion) and the text of the sign; the one relevant clip has
    both. What chance and each channel alone can reach follows from the design and stands in the task's notes.

    The clips are drawn once, in the folder layout, under `outputs/samples/`; equal fields, library versions and
    sources give equal files. A folder that has lost a file, or in which one was changed, is drawn anew.

    Attributes:
        clips: how many clips; a multiple of the two numbers below.
        clips_a_text: in how many clips each text stands, each with a scene of its own.
        clips_a_scene: how many clips show each scene, each with a text of its own.
        seed: decides which texts and scenes are drawn, how they meet, and the details of the pictures.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ("opencv-python-headless", "pillow")
    clips: int
    clips_a_text: int
    clips_a_scene: int
    seed: int

    def __post_init__(self) -> None:
        for name, kind, most in (
            ("clips_a_text", "texts", design.MOST_TEXTS),
            ("clips_a_scene", "scenes", design.MOST_SCENES),
        ):
            share = getattr(self, name)
            if share < 1:
                raise ValueError(f"{name} is {share}; wanted at least 1")
            if self.clips < 1 or self.clips % share:
                raise ValueError(f"clips is {self.clips}; wanted a multiple of {name}, which is {share}")
            if self.clips // share > most:
                raise ValueError(
                    f"clips is {self.clips} with {name} {share}, which takes {self.clips // share} {kind}; "
                    f"wanted at most {most}"
                )
        if self.clips_a_text * self.clips_a_scene > self.clips:
            raise ValueError(
                f"clips is {self.clips} with clips_a_text {self.clips_a_text} and clips_a_scene {self.clips_a_scene}, "
                f"too few for different pairs; wanted at least {self.clips_a_text * self.clips_a_scene}"
            )

    def files(self, runtime: Runtime) -> tuple[Path, ...]:
        """All that was drawn, and the folder; see `loading.ReadsFiles`."""
        return watched(self._folder(runtime), lambda name: True)

    def load(self, runtime: Runtime) -> Task:
        """The task of the drawn clips, which are drawn first where they are not there, or not whole.

        Raises:
            DataError: the folder cannot be written.
        """
        clips = self._design()
        folder = made_once(
            self._folder(runtime),
            lambda draft: self._fill(draft, clips),
            FileDigests(runtime.cache / "files"),
        )
        task = Folder(folder, "test").load(runtime)
        return replace(task, name="sample_clips", notes=(*task.notes, *design.notes(clips)))

    def _folder(self, runtime: Runtime) -> Path:
        sources = Path(__file__).parent.glob("sample_clips*.py")
        return runtime.outputs / "samples" / f"clips-{digest_of(self, sources)}"

    def _design(self) -> list[Clip]:
        """The clips in an order that says nothing of their texts and scenes."""
        texts = design.draw_texts(self.clips // self.clips_a_text, self.seed)
        scenes = design.draw_scenes(self.clips // self.clips_a_scene, self.seed)
        return design.shuffled(design.cross(texts, scenes, self.clips), f"{self.seed}/clips")

    def _fill(self, folder: Path, clips: Sequence[Clip]) -> None:
        (folder / "media").mkdir()
        names = [f"clip{number:0{len(str(len(clips)))}}" for number in range(1, len(clips) + 1)]
        items, asked, rows = [], [], ["query-id\tcorpus-id\tscore\n"]
        for name, clip in zip(names, clips, strict=True):
            write_video(folder / "media" / f"{name}.mp4", draw_clip(clip, f"{self.seed}/{name}"))
            items.append({"id": name, "media": f"media/{name}.mp4"})
            scene = clip.scene
            texts = queries(scene.place, scene.thing, scene.colour, scene.motion, clip.text)
            for number, text in enumerate(texts, start=1):
                query = f"{name}_q{number}"
                asked.append({"id": query, "text": text, "place": scene.place, "motion": scene.motion})
                rows.append(f"{query}\t{name}\t1\n")
        write_lines(folder / "corpus.jsonl", items)
        write_lines(folder / "queries.jsonl", asked)
        (folder / "qrels.tsv").write_text("".join(rows), encoding="utf-8")
