from __future__ import annotations

import importlib
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from clip_files import numbered, taking, write_clip
from glyphrank.errors import ConfigError
from glyphrank.media import ahead
from glyphrank.media.decoder import Decoder, Look, Seen
from glyphrank.media.digest import digest_frames
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.look import look
from glyphrank.records import Frames, Media
from pdf_files import write_pdf
from strange_looks import acting, grey_only, heavy_modules, number_of, picture, process_number

WHOLE = Look(taking(4), None, True)
PREPARED = Look(taking(4), acting, True)


@pytest.fixture(params=[0, 2])
def decoder(request: pytest.FixtureRequest) -> Iterator[Decoder]:
    with Decoder(request.param, 60, 4) as decoder:
        yield decoder


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Decoder]:
    with Decoder(2, 60, 4) as decoder:
        yield decoder


def good(folder: Path, count: int) -> list[Media]:
    from PIL import Image

    for number in range(count):
        Image.fromarray(numbered(number)).save(folder / f"{number}.png")
    return [Media(folder / f"{number}.png", None, str(number)) for number in range(count)]


def frames_of(seen: Seen | MediaError) -> Frames:
    assert isinstance(seen, Seen)
    assert seen.frames is not None
    return seen.frames


def test_items_come_in_order_with_the_pixels_and_digests_of_a_look_here(
    tmp_path: Path, decoder: Decoder
) -> None:  # case V08
    media = good(tmp_path, 9)
    media.insert(3, Media(write_clip(tmp_path / "a.mp4", 12), None, "clip"))
    media.insert(7, Media(write_pdf(tmp_path / "a.pdf", "one", "two"), 2, "page"))
    expected = [look(item, WHOLE.sampler) for item in media]
    for found, frames in zip(decoder.run(media, WHOLE), expected, strict=True):
        assert np.array_equal(frames_of(found).images, frames.images)
        assert frames_of(found).times == frames.times
        assert isinstance(found, Seen)
        assert found.digest == digest_frames(frames)


def test_bad_items_are_given_as_errors_in_their_place(tmp_path: Path, decoder: Decoder) -> None:
    media = good(tmp_path, 3)
    media[1] = Media(tmp_path / "absent.png", None, "absent")
    found = list(decoder.run(media, WHOLE))
    assert [type(item) for item in found] == [Seen, MediaError, Seen]
    assert isinstance(found[1], MediaError)
    assert (found[1].fault, str(found[1])) == (MediaFault.missing, "absent.png: there is no such file")


def test_the_digest_is_of_the_frames_before_they_are_prepared(tmp_path: Path, decoder: Decoder) -> None:
    media = [picture(tmp_path, "good", "a")]
    whole, prepared = (next(iter(decoder.run(media, how))) for how in (WHOLE, PREPARED))
    (digest,) = decoder.run(media, Look(taking(4), acting, False))
    assert frames_of(whole).images[0].shape == (4, 6, 3)
    assert frames_of(prepared).images[0].shape == (2, 3, 3)
    assert isinstance(whole, Seen)
    assert digest == Seen(whole.digest, None)
    assert isinstance(prepared, Seen)
    assert prepared.digest == whole.digest


def test_a_fault_of_the_preparation_is_raised_and_does_not_pass_for_bad_media(tmp_path: Path, decoder: Decoder) -> None:
    media = [picture(tmp_path, "good", "a"), picture(tmp_path, "fail", "b"), picture(tmp_path, "good", "c")]
    run = decoder.run(media, PREPARED)
    assert isinstance(next(run), Seen)
    with pytest.raises(ConfigError, match=r"frames of b\.png failed: KeyError: 'a fault of the preparation'") as caught:
        list(run)
    assert "strange_looks.py" in "".join(caught.value.__notes__)
    assert len(list(decoder.run(media[:1], PREPARED))) == 1


def test_a_preparation_that_breaks_its_promise_is_named(tmp_path: Path, decoder: Decoder) -> None:
    with pytest.raises(ConfigError, match=r"preparing the frames of 0\.png failed: .*wanted uint8 of \(h, w, 3\)"):
        list(decoder.run(good(tmp_path, 1), Look(taking(1), grey_only, True)))


def test_a_preparation_that_cannot_travel_is_refused_at_once(two_workers: Decoder) -> None:
    with pytest.raises(ConfigError, match="cannot be sent to a process"):
        two_workers.run([], Look(taking(1), lambda image: image, True))


def test_an_empty_run_gives_nothing(decoder: Decoder) -> None:
    assert list(decoder.run([], WHOLE)) == []


def test_processes_are_kept_from_run_to_run_and_an_abandoned_run_harms_nothing(
    tmp_path: Path, two_workers: Decoder
) -> None:
    media = good(tmp_path, 20)
    numbers = Look(taking(1), process_number, True)
    first = {number_of(frames_of(found).images[0]) for found in two_workers.run(media, numbers)}
    for _ in range(5):
        abandoned = two_workers.run(media, WHOLE)
        assert isinstance(next(abandoned), Seen)
        del abandoned
    later = [number_of(frames_of(found).images[0]) for found in two_workers.run(media, numbers)]
    assert len(later) == 20
    assert len(first | set(later)) <= 2
    assert os.getpid() not in first


def test_a_run_that_is_left_for_another_says_so(tmp_path: Path, two_workers: Decoder) -> None:
    media = good(tmp_path, 20)
    left = two_workers.run(media, WHOLE)
    next(left)
    assert len(list(two_workers.run(media, WHOLE))) == 20
    with pytest.raises(RuntimeError, match="only one may at a time"):
        list(left)


def consume_and_raise(run: Iterator[object]) -> None:
    for _ in run:
        raise KeyboardInterrupt


def test_a_consumer_that_raises_leaves_the_decoder_usable(tmp_path: Path, two_workers: Decoder) -> None:
    media = good(tmp_path, 8)
    with pytest.raises(KeyboardInterrupt):
        consume_and_raise(two_workers.run(media, WHOLE))
    assert all(isinstance(found, Seen) for found in two_workers.run(media, WHOLE))


def test_no_more_than_a_few_items_are_decoded_ahead(tmp_path: Path, two_workers: Decoder) -> None:
    media = good(tmp_path, 30)
    run = two_workers.run(media, WHOLE)
    next(run)
    time.sleep(1)
    gone = media[10:]
    for item in gone:  # what has been decoded by now is not missed
        item.path.unlink()
    found = list(itertools.islice(run, 29))
    assert all(isinstance(item, Seen) for item in found[:3])
    assert all(isinstance(item, MediaError) for item in found[9:])


def test_no_further_item_is_begun_while_enough_bytes_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    media = good(tmp_path, 6)
    monkeypatch.setattr(ahead, "_MOST_HELD", media[0].path.stat().st_size)  # less than its pixels
    with Decoder(1, 60, 4) as decoder:
        run = decoder.run(media, WHOLE)
        first = next(run)
        time.sleep(0.7)
        for item in media:
            item.path.unlink()
        assert [type(found) for found in (first, *run)] == [Seen, Seen] + [MediaError] * 4
        assert len(list(decoder.run(good(tmp_path, 6), WHOLE))) == 6


def test_modules_are_found_in_a_folder_whose_name_holds_a_colon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a:b").mkdir()
    (tmp_path / "a:b" / "a_colon_away.py").write_text("def upside_down(image):\n    return image[::-1]\n")
    monkeypatch.syspath_prepend(tmp_path / "a:b")
    upside_down = importlib.import_module("a_colon_away").upside_down
    media = good(tmp_path, 1)
    with Decoder(1, 60, 4) as decoder:
        (found,) = decoder.run(media, Look(taking(4), upside_down, True))
    assert np.array_equal(frames_of(found).images[0], numbered(0)[::-1])


def test_decoding_goes_on_while_the_consumer_works(tmp_path: Path, two_workers: Decoder) -> None:
    media = [picture(tmp_path, "slow", str(number)) for number in range(5)]  # 0.4 s each
    run = two_workers.run(media, PREPARED)
    next(run)
    time.sleep(1.5)
    before = time.monotonic()
    assert len(list(run)) == 4
    assert time.monotonic() - before < 0.3


def test_processes_import_only_what_decoding_needs(tmp_path: Path, two_workers: Decoder) -> None:  # case V08
    (found,) = two_workers.run(good(tmp_path, 1), Look(taking(1), heavy_modules, True))
    assert frames_of(found).images[0].shape[1] == 1


def test_what_is_logged_in_a_process_is_logged_here(
    tmp_path: Path, two_workers: Decoder, caplog: pytest.LogCaptureFixture
) -> None:  # case P08
    list(two_workers.run([picture(tmp_path, "log", "a")], PREPARED))
    assert [(record.name, record.getMessage()) for record in caplog.records] == [
        ("glyphrank.media.stub", "seen by a stub")
    ]


SCRIPT = """
import sys
from pathlib import Path
from glyphrank.media import ahead
from glyphrank.media.decoder import Decoder, Look
from glyphrank.media.sampling import Middles
from glyphrank.records import Media
with Decoder(2, 60, 4) as decoder:
    found = list(decoder.run([Media(Path(sys.argv[1]), None, "")] * 3, Look(Middles(1, 100, 10**6), None, True)))
    print(len({seen.digest for seen in found}))
def mine(image):
    return image
with Decoder(1, 60, 4) as decoder:
    try:
        list(decoder.run([Media(Path(sys.argv[1]), None, "")], Look(Middles(1, 100, 10**6), mine, True)))
    except Exception as error:
        print(type(error).__name__, error)
"""


def test_a_script_without_a_file_may_decode_and_is_not_run_again(tmp_path: Path) -> None:
    (media,) = good(tmp_path, 1)
    (tmp_path / "random.py").write_text("raise SystemExit('a file of the working folder was imported')")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-P", "-W", "error", "-", str(media.path)]
    done = subprocess.run(
        command, input=SCRIPT, capture_output=True, text=True, timeout=120, check=False, env=environment, cwd=tmp_path
    )
    first, second = done.stdout.splitlines()
    assert (done.returncode, first, done.stderr) == (0, "1", "")
    assert second.startswith("ConfigError the sampler or the preparation of frames cannot be imported")
