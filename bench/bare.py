"""The bare loop: decode, step down and encode the default variants of one file, and nothing else."""

from __future__ import annotations

from vernier.media.child.limits import CAP_SYS_NICE, drop_capabilities
from vernier.media.images import Picture
from vernier.media.variants import DEFAULT_VARIANTS, required_variants

# As for the children of the worker: root's encoder would be a real-time process.
drop_capabilities(keep=~(1 << CAP_SYS_NICE))


def render_all(path: str) -> int:
    """Render all that the file needs and return the number of bytes."""
    picture = Picture.open(path, image_type="jpeg", variants=DEFAULT_VARIANTS, pixels_max=100_000_000)
    return sum(len(picture.render(variant).data) for variant in required_variants(DEFAULT_VARIANTS, picture.size))
