"""What can be wrong with files that are to be imported or exported."""


class ExchangeError(Exception):
    """Base of all errors of this package."""


class DocumentInvalid(ExchangeError):  # noqa: N818 - named like the failures of vernier.media
    """A file is no post with front matter."""


class DirectoryNotEmpty(ExchangeError):  # noqa: N818
    """An export goes into a directory of its own."""
