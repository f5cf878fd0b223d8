from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageFile, features

from bombs import bomb
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.images import load_image, load_picture, reduced
from tiff_files import write_tiff

BUDGET = 89_000_000


def corners(size: tuple[int, int] = (40, 20)) -> Image.Image:
    """Red above left, green above right, blue below left, black below right."""
    image = Image.new("RGB", size)
    half = size[0] // 2, size[1] // 2
    image.paste((255, 0, 0), (0, 0, *half))
    image.paste((0, 255, 0), (half[0], 0, size[0], half[1]))
    image.paste((0, 0, 255), (0, half[1], half[0], size[1]))
    return image


def load(path: Path, long_side: int = 1600, most_pixels: int = BUDGET) -> np.ndarray:
    return load_image(path, long_side, most_pixels)


def fault(path: Path, most_pixels: int = BUDGET) -> MediaError:
    with pytest.raises(MediaError, match=f"^{path.name}: ") as caught:
        load(path, most_pixels=most_pixels)
    return caught.value


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif", "webp"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_stands_upright_by_its_exif_orientation(tmp_path: Path, suffix: str, orientation: int) -> None:
    turns = {2: [0], 3: [3], 4: [1], 5: [5], 6: [2], 7: [6], 8: [4]}  # what the camera did, undone by the viewer
    turned = corners()
    for turn in turns.get(orientation, []):
        turned = turned.transpose(Image.Transpose(turn))
    exif = Image.Exif()
    exif[0x0112] = orientation
    options: dict[str, Any] = {"quality": 95, "subsampling": 0} if suffix == "jpg" else {"lossless": True}
    turned.save(tmp_path / f"a.{suffix}", exif=exif, **options)
    found = load(tmp_path / f"a.{suffix}")
    assert found.shape == (20, 40, 3)
    assert np.abs(found.astype(int) - np.array(corners())).mean() < 5


def test_a_16_bit_scan_keeps_its_greys(tmp_path: Path) -> None:  # case E10
    ramp = np.linspace(0, 65535, 256).round().astype(np.uint16).reshape(16, 16)
    for suffix in ("png", "tif"):
        Image.fromarray(ramp).save(tmp_path / f"ramp.{suffix}")
        found = load(tmp_path / f"ramp.{suffix}")
        assert len(np.unique(found)) >= 200
        assert (found[0, 0].tolist(), found[-1, -1].tolist()) == ([0] * 3, [255] * 3)


@pytest.mark.parametrize("bits", [12, 16])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("zero_is_white", [False, True])
def test_a_deep_scan_keeps_its_greys_whatever_its_zero_means(
    tmp_path: Path, bits: int, order: str, zero_is_white: bool
) -> None:  # case E10
    ramp = np.linspace(0, 2**bits - 1, 256).round().astype(np.uint16).reshape(16, 16)
    found = load(write_tiff(tmp_path / "a.tif", ramp, bits, order, zero_is_white))[:, :, 0].ravel()
    assert np.abs(found - np.arange(256.0)[:: -1 if zero_is_white else 1]).max() <= 1


def test_a_dark_deep_scan_stays_dark(tmp_path: Path) -> None:  # case E10
    dark = np.full((4, 4), 200, dtype=np.uint16)
    Image.fromarray(dark).save(tmp_path / "a.png")
    (tmp_path / "a.pgm").write_bytes(b"P5 4 4 65535\n" + dark.astype(">u2").tobytes())
    for path in (tmp_path / "a.png", tmp_path / "a.pgm", write_tiff(tmp_path / "a.tif", dark, 16)):
        assert (load(path) == 1).all()


def test_the_transparent_grey_of_a_16_bit_png_is_white(tmp_path: Path) -> None:  # case E10
    values = np.array([[0, 30000]], dtype=np.uint16)
    Image.fromarray(values).save(tmp_path / "a.png", transparency=0)
    assert load(tmp_path / "a.png")[0, :, 0].tolist() == [255, 117]


def test_cmyk_pictures_keep_their_colours_with_and_without_adobes_inversion(tmp_path: Path) -> None:
    cyan = Image.new("CMYK", (16, 16), (255, 0, 0, 0))
    cyan.save(tmp_path / "inverted.jpg", quality=95)  # Pillow writes the marker of Adobe, and inverted values
    cyan.save(tmp_path / "plain.tif")
    assert b"Adobe" in (tmp_path / "inverted.jpg").read_bytes()
    for name in ("inverted.jpg", "plain.tif"):
        assert np.abs(load(tmp_path / name)[8, 8].astype(int) - [0, 255, 255]).max() <= 3


def test_a_palette_with_transparency_lies_on_white(tmp_path: Path) -> None:
    image = Image.new("P", (2, 1))
    image.putpalette([10, 20, 30, 200, 100, 50])
    image.putpixel((1, 0), 1)
    for name in ("a.png", "a.gif"):
        image.save(tmp_path / name, transparency=0)
        assert load(tmp_path / name).tolist() == [[[255, 255, 255], [200, 100, 50]]]


@pytest.mark.parametrize("suffix", ["gif", "png", "tif", "webp"])
def test_of_several_frames_the_first_is_seen(tmp_path: Path, suffix: str) -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "lime", "blue")]
    options: dict[str, Any] = {"lossless": True} if suffix == "webp" else {}
    frames[0].save(tmp_path / f"a.{suffix}", save_all=True, append_images=frames[1:], **options)
    assert load(tmp_path / f"a.{suffix}")[4, 4].tolist() == [255, 0, 0]


def test_a_larger_picture_is_reduced_whole_and_a_smaller_one_left(tmp_path: Path) -> None:
    corners((400, 200)).save(tmp_path / "a.png")
    found = load(tmp_path / "a.png", long_side=100)
    assert found.shape == (50, 100, 3)
    assert [found[y, x].tolist() for y in (2, 47) for x in (2, 97)] == np.array(corners())[::19, ::39].reshape(
        4, 3
    ).tolist()
    assert load(tmp_path / "a.png", long_side=400).shape == (200, 400, 3)


def test_a_strip_keeps_at_least_one_pixel(tmp_path: Path) -> None:
    Image.new("L", (3000, 1), 7).save(tmp_path / "strip.png")
    assert load(tmp_path / "strip.png", long_side=10).shape == (1, 10, 3)


def test_reduced_leaves_a_frame_that_fits_and_reduces_another() -> None:
    frame = np.full((30, 60, 3), 9, dtype=np.uint8)
    assert reduced(frame, 60) is frame
    assert reduced(frame, 20).shape == (10, 20, 3)
    assert (reduced(frame, 20) == 9).all()


def test_a_picture_of_190_megapixels_is_refused_by_name_before_it_is_decoded(tmp_path: Path) -> None:  # case E13
    path = bomb(tmp_path / "scan.png", 19_000, 10_000)
    assert path.stat().st_size < 100_000
    error = fault(path)
    assert error.fault is MediaFault.too_large
    assert str(error) == (
        "scan.png: has 190000000 pixels, wanted at most 89000000; raise frames.most_pixels to read it"
    )


@pytest.mark.parametrize("most_pixels", [150, 101, 99])
def test_the_budget_is_exact_on_either_side_of_pillows_own(tmp_path: Path, most_pixels: int) -> None:  # case E13
    Image.new("L", (151, 1)).save(tmp_path / "a.png")
    error = fault(tmp_path / "a.png", most_pixels)
    assert f"has 151 pixels, wanted at most {most_pixels}" in str(error)
    assert load(tmp_path / "a.png", most_pixels=151).shape == (1, 151, 3)


def test_a_budget_above_pillows_own_limit_is_honoured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)  # as if 89 megapixels were ten
    Image.new("L", (30, 1)).save(tmp_path / "a.png")
    assert load(tmp_path / "a.png", most_pixels=30).shape == (1, 30, 3)
    assert Image.MAX_IMAGE_PIXELS == 10


def test_pillows_own_guard_and_its_warnings_are_as_before_afterwards(tmp_path: Path) -> None:
    before = Image.MAX_IMAGE_PIXELS, list(warnings.filters), ImageFile.LOAD_TRUNCATED_IMAGES
    fault(bomb(tmp_path / "scan.png", 200, 100), most_pixels=50)
    assert (Image.MAX_IMAGE_PIXELS, list(warnings.filters), ImageFile.LOAD_TRUNCATED_IMAGES) == before
    assert before[2] is False


@pytest.mark.parametrize("suffix", ["png", "jpg", "gif", "tif", "webp", "bmp"])
@pytest.mark.parametrize("tenths", [1, 3, 5, 7, 9])
def test_a_picture_that_is_cut_off_fails_by_name(tmp_path: Path, suffix: str, tenths: int) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    path = tmp_path / f"a.{suffix}"
    Image.fromarray(noise).save(path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * tenths // 10])
    assert fault(path).fault in (MediaFault.truncated, MediaFault.damaged)


def test_a_cut_jpeg_and_png_are_told_from_damaged_ones(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    for suffix in ("jpg", "png"):
        path = tmp_path / f"a.{suffix}"
        Image.fromarray(noise).save(path)
        path.write_bytes(path.read_bytes()[:3000])
        assert fault(path).fault is MediaFault.truncated


def test_what_is_no_picture_is_named_so(tmp_path: Path) -> None:
    (tmp_path / "text.jpg").write_text("just some words, no picture at all")
    assert fault(tmp_path / "text.jpg").fault is MediaFault.not_media


def test_a_picture_of_an_unknown_kind_is_unsupported_rather_than_damaged(tmp_path: Path) -> None:
    (tmp_path / "a.heic").write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + b"\0" * 100)
    error = fault(tmp_path / "a.heic")
    assert error.fault is MediaFault.unsupported
    assert "'heic'" in str(error)


@pytest.mark.skipif(not features.check("avif"), reason="this Pillow has no AVIF")
def test_an_avif_that_is_cut_off_is_not_called_undecoded(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "a.avif")
    assert load(tmp_path / "a.avif").shape == (64, 64, 3)
    whole = (tmp_path / "a.avif").read_bytes()
    (tmp_path / "a.avif").write_bytes(whole[: len(whole) * 6 // 10])
    error = fault(tmp_path / "a.avif")
    assert (error.fault, "damaged or cut off" in str(error)) == (MediaFault.damaged, True)


def test_an_orientation_that_cannot_be_read_leaves_the_picture_as_it_is(tmp_path: Path) -> None:
    corners().save(tmp_path / "a.jpg", exif=b"Exif\0\0II*\0\xff\xff\xff\xff", quality=95)
    assert load(tmp_path / "a.jpg").shape == (20, 40, 3)


def test_a_png_with_changed_bytes_is_damaged_even_where_its_pixels_can_be_decoded(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (120, 160, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "a.png", compress_level=0)
    data = bytearray((tmp_path / "a.png").read_bytes())
    data[len(data) // 2] ^= 0xFF  # a stored byte: the stream stays whole, its checksum does not
    for number in range(3):
        data[len(data) // 3 + number] = 0
    (tmp_path / "a.png").write_bytes(data)
    assert fault(tmp_path / "a.png").fault is MediaFault.damaged
    with pytest.raises(MediaError, match=r"corpus row 0: the picture is damaged"):
        load_picture(bytes(data), "corpus row 0", 1600, BUDGET)
