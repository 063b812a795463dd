"""Render without a child process: for tests of the pipeline, where many small images go through it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from vernier.media.child.protocol import Measured, Rendered, Verified
from vernier.media.conf import MediaSettings
from vernier.media.images import Picture, verify
from vernier.media.render import Renderer
from vernier.media.variants import Variant


@contextmanager
def open_renderer_in_process(
    path: str,
    *,
    image_type: str,
    variants: tuple[Variant, ...],
    settings: MediaSettings,
    on_tick: Callable[[], None],
) -> Iterator[Renderer]:
    """Do what `render.open_renderer` does, with the same bytes as result, but without its limits."""

    def open_picture() -> Picture:
        return Picture.open(path, image_type=image_type, variants=variants, pixels_max=settings.pixels_max)

    yield _InProcessRenderer(open_picture, on_tick)


class _InProcessRenderer:
    """Decodes when it is first asked, like the child."""

    def __init__(self, open_picture: Callable[[], Picture], on_tick: Callable[[], None]) -> None:
        self._open_picture = open_picture
        self._on_tick = on_tick
        self._picture: Picture | None = None

    def measure(self) -> Measured:
        picture = self._opened()
        return Measured(size=picture.size, has_alpha=picture.has_alpha, placeholder=picture.average_colour())

    def render(self, variant: Variant) -> Rendered:
        return self._opened().render(variant)

    def verify(self, data: bytes) -> Verified:
        self._on_tick()
        return verify(data)

    def _opened(self) -> Picture:
        self._on_tick()
        if self._picture is None:
            self._picture = self._open_picture()
        return self._picture
