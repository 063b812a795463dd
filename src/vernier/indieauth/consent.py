"""What an author was shown, signed into the form, so that what they approve is that and nothing else."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.core import signing

from vernier.indieauth.exceptions import RequestRefused

if TYPE_CHECKING:
    from vernier.authors.models import Author

# Long enough to think about it, and for the tab that is found again after lunch.
CONSENT_LIFE = timedelta(hours=1)
_SALT = "vernier.indieauth.consent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """A request whose redirect was verified, as it was shown to one author."""

    author_id: int
    client_id: str
    client_name: str
    redirect_uri: str
    state: str | None
    scopes: list[str]
    code_challenge: str


def sign_consent(consent: Consent) -> str:
    return signing.dumps(asdict(consent), salt=_SALT, compress=True)


def read_consent(signed: str, *, author: Author) -> Consent:
    """Return what this author was shown; raise RequestRefused for a form that is too old or not theirs."""
    try:
        consent = Consent(**signing.loads(signed, salt=_SALT, max_age=CONSENT_LIFE))
    except signing.BadSignature as error:
        raise RequestRefused("This form is too old, or is not one of this site.") from error
    if consent.author_id != author.pk:
        raise RequestRefused("This form was shown to another author of this site.")
    return consent
