"""The policy for pixels: what is decoded, how it is turned, converted and encoded."""

import io
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms, ImageOps

from tests.media.rendering import (
    CORPUS,
    SETTINGS,
    TOLERANCE,
    decode,
    photo,
    pixels,
    render_set,
    sniff_path,
    variant,
)
from vernier.media.exceptions import PermanentError, TransientError
from vernier.media.failures import FailureCode
from vernier.media.images import Picture, verify
from vernier.media.variants import Size

LARGE = 10**9


def test_original__metadata_that_inflates_stays_small():
    result = render_set(CORPUS / "bomb_png_ztxt.png", settings=_limited(memory_mib=256))
    assert result.measured.size == Size(width=8, height=8)


def test_original__too_many_pixels_by_the_setting(tmp_path):
    path = _saved(Image.new("RGB", (101, 10)), tmp_path / "a.png")
    with pytest.raises(PermanentError) as caught:
        Picture.open(str(path), image_type="png", variants=(variant(),), pixels_max=1000)
    assert caught.value.code == FailureCode.TOO_MANY_PIXELS
    assert "101 x 10" in caught.value.detail


def test_original__missing_is_transient(tmp_path):
    with pytest.raises(TransientError) as caught:
        Picture.open(str(tmp_path / "gone.jpg"), image_type="jpeg", variants=(variant(),), pixels_max=LARGE)
    assert caught.value.code == FailureCode.STORAGE_UNAVAILABLE


def test_original__name_is_not_taken_for_options(tmp_path):
    path = _saved(Image.new("RGB", (9, 9)), tmp_path / "a.jpg[shrink=8].png")
    assert _open(path).size == Size(width=9, height=9)


def test_original__svg_is_not_read_under_another_name(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes((CORPUS / "not_svg.svg").read_bytes())
    with pytest.raises(PermanentError):
        Picture.open(str(path), image_type="png", variants=(variant(),), pixels_max=LARGE)


@pytest.mark.parametrize("image_type", ["jpeg", "png", "webp", "gif", "avif"])
@pytest.mark.parametrize("kept", [0.3, 0.6, 0.9])
def test_original__cut_short_is_truncated(image_type, kept, tmp_path):
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 255, (64, 64, 3), np.uint8))
    whole = _saved(noise, tmp_path / f"whole.{image_type}").read_bytes()
    path = tmp_path / f"cut.{image_type}"
    path.write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(PermanentError) as caught:
        Picture.open(str(path), image_type=image_type, variants=(variant(),), pixels_max=LARGE)
    assert caught.value.code == FailureCode.TRUNCATED


def test_jpeg__with_too_many_scans(tmp_path):
    path = tmp_path / "scans.jpg"
    path.write_bytes(_with_repeated_scan(65))
    with pytest.raises(PermanentError) as caught:
        _open(path)
    assert caught.value.code == FailureCode.TOO_COMPLEX


def test_jpeg__scans_behind_its_end_do_not_count(tmp_path):
    path = tmp_path / "motion.jpg"
    path.write_bytes((CORPUS / "jpeg_444.jpg").read_bytes() + b"\xff\xda" * 1000)
    assert _open(path).size == Size(width=320, height=240)


def test_colour__grey_profile_on_a_colour_image_is_ignored(tmp_path):
    path = _saved(Image.new("RGB", (64, 64), (200, 60, 40)), tmp_path / "a.jpg", icc_profile=_grey_profile())
    picture = _open(path)
    for encoding in ("avif", "jpeg"):
        rendered = picture.render(variant(encoding))
        assert np.abs(pixels(decode(rendered)) - (200, 60, 40)).max() <= TOLERANCE
        assert "icc_profile" not in Image.open(io.BytesIO(rendered.data)).info


@pytest.mark.parametrize("kind", [b"linkRGB XYZ ", b"nmclRGB XYZ ", b"mntrRGB HSV "])
def test_colour__profile_that_cannot_be_used_is_ignored(kind, tmp_path):
    path = tmp_path / "a.jpg"
    path.write_bytes((CORPUS / "icc_p3.jpg").read_bytes().replace(b"mntrRGB XYZ ", kind))
    rendered = _open(path).render(variant("jpeg"))
    assert np.abs(pixels(decode(rendered)) - (200, 100, 50)).max() <= TOLERANCE


def test_colour__profile_of_a_photo_is_applied():
    path = photo("castle12.jpg")
    rendered = _open(path, variant("avif", width_max=512)).render(variant("avif", width_max=512, quality=90))
    with Image.open(path) as original:
        original.draft("RGB", (1024, 1024))
        plain = original.resize((512, 384), Image.Resampling.LANCZOS, reducing_gap=3)
        profile = ImageCms.ImageCmsProfile(io.BytesIO(original.info["icc_profile"]))
    converted = ImageCms.profileToProfile(plain, profile, ImageCms.createProfile("sRGB"))
    error = np.abs(pixels(decode(rendered)) - pixels(converted)).mean()
    assert error < 3
    assert error < np.abs(pixels(decode(rendered)) - pixels(plain)).mean()


def test_orientation__of_a_photo_is_applied_once():
    path, small = photo("dog.jpg"), variant("jpeg", width_max=300, height_max=300)
    picture = _open(path, small)
    assert picture.size == Size(width=3024, height=4032)
    with Image.open(path) as original:
        upright = ImageOps.exif_transpose(original.resize((300, 225), reducing_gap=3))
    assert np.abs(pixels(decode(picture.render(small))) - pixels(upright)).mean() < 6


@pytest.mark.parametrize(("encoding", "kept"), [("avif", True), ("png", True), ("webp", True), ("gif", True)])
def test_alpha__kept(encoding, kept, tmp_path):
    path = _saved(_half_transparent(), tmp_path / "a.png")
    image = decode(_open(path).render(variant(encoding)), "RGBA")
    assert image.getpixel((8, 8))[3] <= 2
    assert image.getpixel((56, 8))[3] == 255


@pytest.mark.parametrize("encoding", ["jpeg", "plain"])
def test_alpha__flattened_on_white_in_jpeg(encoding, tmp_path):
    path = _saved(_half_transparent(), tmp_path / "a.png")
    rendered = _open(path).render(variant(encoding))
    assert rendered.format == ("png" if encoding == "plain" else "jpeg")
    on_white = Image.new("RGBA", (64, 64), "white")
    on_white.alpha_composite(decode(rendered, "RGBA"))
    assert min(on_white.getpixel((8, 8))[:3]) >= 253


def test_alpha__that_is_opaque_throughout_is_none(tmp_path):
    path = _saved(Image.new("RGBA", (32, 32), (1, 2, 3, 255)), tmp_path / "a.png")
    picture = _open(path)
    assert not picture.has_alpha
    assert picture.render(variant("plain")).format == "jpeg"


@pytest.mark.parametrize(
    ("original", "colour"),
    [
        (Image.new("RGB", (33, 7), (10, 200, 30)), "#0ac81e"),
        (Image.new("L", (5, 5), 128), "#808080"),
        (Image.new("RGBA", (9, 9), (255, 0, 0, 0)), "#ffffff"),
        # Green on the left half, transparent on the right: 100 and 255 halve to 178.
        (ImageOps.expand(Image.new("RGBA", (8, 8), (100, 255, 100, 255)), (0, 0, 8, 0), (0, 0, 0, 0)), "#b2ffb2"),
    ],
)
def test_placeholder__is_the_average_over_white(original, colour, tmp_path):
    seen = _open(_saved(original, tmp_path / "a.png")).average_colour()
    assert np.abs(np.subtract(list(bytes.fromhex(seen[1:])), list(bytes.fromhex(colour[1:])))).max() <= 1


def test_jpeg_rendition__is_progressive_and_subsampled(tmp_path):
    path = _saved(_half_transparent(), tmp_path / "a.png")
    with Image.open(io.BytesIO(_open(path).render(variant("jpeg", quality=95)).data)) as image:
        assert image.info["progressive"]
        assert [layer[1:3] for layer in image.layer] == [(2, 2), (1, 1), (1, 1)]


def test_rendition__is_independent_of_the_order_of_the_calls(tmp_path):
    path = _saved(Image.linear_gradient("L").resize((300, 200)), tmp_path / "a.png")
    recipes = tuple(variant("avif", width_max=width) for width in (300, 200, 100))
    first, second = _open(path, *recipes), _open(path, *recipes)
    forwards = [first.render(recipe).data for recipe in recipes]
    assert forwards == [second.render(recipe).data for recipe in reversed(recipes)][::-1]


@settings(max_examples=40, deadline=None)
@given(
    width=st.integers(1, 90),
    height=st.integers(1, 90),
    orientation=st.integers(0, 9),
    recipes=st.lists(
        st.builds(
            variant,
            st.sampled_from(["avif", "jpeg", "png", "gif", "webp", "plain", "family"]),
            width_max=st.integers(1, 90),
            height_max=st.integers(1, 90),
            fit=st.sampled_from(["inside", "cover"]),
        ),
        min_size=1,
        max_size=3,
    ),
)
def test_rendition__has_exactly_the_size_of_its_variant(tmp_path_factory, width, height, orientation, recipes):
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = _saved(Image.new("RGB", (width, height), "red"), tmp_path_factory.getbasetemp() / "any.jpg", exif=exif)
    picture = _open(path, *recipes)
    upright = (height, width) if 5 <= orientation <= 8 else (width, height)
    assert (picture.size.width, picture.size.height) == upright
    for recipe in recipes:
        rendered = picture.render(recipe)
        assert rendered.size == recipe.size_for(picture.size)
        assert verify(rendered.data).size == rendered.size


def test_cover__keeps_the_centre(tmp_path):
    image = Image.new("RGB", (300, 100), "blue")
    image.paste("red", (100, 0, 200, 100))
    square = variant("png", width_max=50, height_max=50, fit="cover")
    cropped = pixels(decode(_open(_saved(image, tmp_path / "a.png"), square).render(square)))
    assert np.abs(cropped[:, 2:-2] - (255, 0, 0)).max() <= TOLERANCE


@pytest.mark.parametrize("size", [(1, 1), (3, 200), (200, 15), (16, 9000), (9000, 3)])
def test_avif__sizes_that_the_usual_encoder_refuses(size, tmp_path):
    recipe = variant("avif", width_max=16_384, height_max=16_384)
    rendered = _open(_saved(Image.new("RGB", size, "red"), tmp_path / "a.png"), recipe).render(recipe)
    assert np.abs(pixels(decode(rendered)) - (255, 0, 0)).max() <= TOLERANCE


@pytest.mark.parametrize("encoding", ["avif", "jpeg", "png", "gif", "webp"])
def test_verify__damage_and_metadata(encoding, tmp_path):
    path = _saved(_half_transparent(), tmp_path / "a.png")
    rendered = _open(path).render(variant(encoding))
    assert verify(rendered.data).format == encoding
    tagged = _saved(_half_transparent().convert("RGB"), tmp_path / f"tagged.{encoding}", comment=b"x", xmp=b"x")
    for damaged in (b"", rendered.data[: len(rendered.data) // 2], b"text", tagged.read_bytes()):
        if encoding == "png" and damaged == tagged.read_bytes():
            # Pillow writes neither into a PNG.
            continue
        with pytest.raises(TransientError) as caught:
            verify(damaged)
        assert caught.value.code == FailureCode.STORAGE_UNAVAILABLE


def _limited(*, memory_mib: int):
    return type(SETTINGS)(render_memory_bytes=memory_mib * 1024 * 1024)


def _saved(image: Image.Image, path, **options):
    image.save(path, **options)
    return path


def _open(path, *recipes) -> Picture:
    recipes = recipes or (variant(),)
    return Picture.open(str(path), image_type=sniff_path(path).name, variants=recipes, pixels_max=LARGE)


def _half_transparent() -> Image.Image:
    image = Image.new("RGBA", (64, 64), (0, 0, 0, 0))
    image.paste((200, 60, 40, 255), (32, 0, 64, 64))
    return image


def _with_repeated_scan(count: int) -> bytes:
    """Return a progressive JPEG with its last scan as often as given."""
    data = (CORPUS / "jpeg_progressive.jpg").read_bytes()
    start, end = data.rindex(b"\xff\xda"), data.rindex(b"\xff\xd9")
    return data[:start] + data[start:end] * count + data[end:]


def _grey_profile() -> bytes:
    """Return a small ICC profile for grey images: a white point, a gamma and texts."""
    tags = {
        b"desc": b"desc" + struct.pack(">II", 0, 5) + b"grey\0" + b"\0" * 79,
        b"cprt": b"text\0\0\0\0none\0",
        b"wtpt": b"XYZ \0\0\0\0" + struct.pack(">III", 0xF6D6, 0x10000, 0xD32D),
        b"kTRC": b"curv" + struct.pack(">IIH", 0, 1, 0x0233) + b"\0\0",
    }
    at, table, body = 132 + 12 * len(tags), b"", b""
    for name, content in tags.items():
        padded = content + b"\0" * (-len(content) % 4)
        table += name + struct.pack(">II", at + len(body), len(content))
        body += padded
    head = struct.pack(">I4sI4s4s4s", at + len(body), b"\0" * 4, 0x02100000, b"mntr", b"GRAY", b"XYZ ")
    head += b"\0" * 12 + b"acsp" + b"\0" * 28 + struct.pack(">III", 0xF6D6, 0x10000, 0xD32D)
    return head.ljust(128, b"\0") + struct.pack(">I", len(tags)) + table + body
