"""Where an author is at home on the site."""

from __future__ import annotations

from urllib.parse import quote

from vernier.authors.models import Author

HOME = "/"


def first_author_id() -> int | None:
    """Return who is at home at the site's own address: its first author, who stays so when others come."""
    return Author.objects.order_by("pk").values_list("pk", flat=True).first()


def profile_path(author: Author, *, first_id: int | None) -> str:
    """Return the path of the author's profile, their identity towards others (IndieAuth section 3.1)."""
    return HOME if author.pk == first_id else author_path(author)


def author_path(author: Author) -> str:
    """Return the path of the page with the author's posts."""
    return f"/authors/{quote(author.get_username())}"
