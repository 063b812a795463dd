"""Where an author is at home on the site."""

from __future__ import annotations

from urllib.parse import quote

from vernier.authors.models import Author

HOME = "/"


def profile_path(author: Author) -> str:
    """Return the path of the author's profile, their identity towards others (IndieAuth section 3.1).

    The site's first author is at home at the site's own address, and stays so when others come.
    """
    first_id = Author.objects.order_by("pk").values_list("pk", flat=True).first()
    return HOME if author.pk == first_id else author_path(author)


def author_path(author: Author) -> str:
    """Return the path of the page with the author's posts."""
    return f"/authors/{quote(author.get_username())}"
