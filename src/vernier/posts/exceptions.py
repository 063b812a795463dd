"""What can be wrong with a post that somebody sends."""


class PostError(Exception):
    """Base of all errors of this app."""


class PropertyInvalid(PostError):  # noqa: N818 - named like the failures of vernier.media
    """A property has a value that cannot be kept."""

    def __init__(self, name: str, received: object, valid: str) -> None:
        super().__init__(f"The property “{_shown(name)}” is {_shown(repr(received))}; valid is {valid}.")
        self.name = name


class PostEmpty(PostError):  # noqa: N818
    """A post without any property says nothing."""


class PostNotFound(PostError):  # noqa: N818
    """There is no such post of this author."""


class PostChanged(PostError):  # noqa: N818
    """Somebody has changed the post since it was read."""


class RetryKeyReused(PostError):  # noqa: N818
    """An Idempotency-Key was used for another post."""


# So much of a name or value is repeated to whoever sent it.
_SHOWN_CHARACTERS_MAX = 100


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS_MAX else f"{text[:_SHOWN_CHARACTERS_MAX]}…"
