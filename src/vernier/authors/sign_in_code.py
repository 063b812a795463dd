"""Mailed codes: whoever reads an author's mail is let in, in the browser that has asked.

The request that asks for a code does the same for every name: a row and a job. Whether there is such an author is
found out by the job, where nobody can time it.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

from vernier.authors.accounts import find_active_author
from vernier.authors.jobs import ring_code
from vernier.authors.models import Author, SignInCode
from vernier.authors.secret import hash_secret, new_secret
from vernier.mail.conf import mail_settings
from vernier.mail.outbox import enqueue_mail

VALID_FOR = timedelta(minutes=10)
DIGITS = 6
_SALT = "vernier.authors.sign_in_code"
_TEXT = """\
{code} is your code to sign in to {host}.

It is valid for {minutes} minutes, once, in the browser that has asked for it.

If that was not you, somebody has typed your name on the sign-in page. You need not do anything.
"""


def ask_for_code(typed: str, *, now: datetime) -> str:
    """Have a code mailed to the author of this name or address, if there is one; return the browser's secret."""
    secret = new_secret()
    with transaction.atomic():
        code = SignInCode.objects.create(
            browser_sha256=hash_secret(secret), asked_for=typed, created_at=now, expires_at=now + VALID_FOR
        )
        ring_code(code)
    return secret


def mail_code(code_id: int, *, now: datetime | None = None) -> None:
    """Draw the code and mail it, once; do nothing where there is nobody to mail it to."""
    now = now or timezone.now()
    fresh = SignInCode.objects.usable(now).filter(pk=code_id, code_hmac="")
    row = fresh.first()
    author = None if row is None else find_active_author(row.asked_for)
    if row is None or author is None or not author.email:
        return
    drawn = f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"
    with transaction.atomic():
        if fresh.update(author=author, code_hmac=_hmac(row, drawn), asked_for=""):
            _mail(author, drawn, row, now)


def check_code(secret: str, given: str, *, now: datetime) -> Author | None:
    """Return the author whose code this is, and use it up; count the attempt in any case."""
    usable = SignInCode.objects.usable(now).filter(browser_sha256=hash_secret(secret))
    if not usable.update(attempts=F("attempts") + 1):
        return None
    row = SignInCode.objects.select_related("author").get(browser_sha256=hash_secret(secret))
    is_right = constant_time_compare(_hmac(row, "".join(given.split())), row.code_hmac)
    if not is_right or row.author is None or not row.author.is_active:
        return None
    used = SignInCode.objects.filter(pk=row.pk, used_at=None).update(used_at=now)
    return row.author if used else None


def _mail(author: Author, code: str, row: SignInCode, now: datetime) -> None:
    host = mail_settings().site_host
    enqueue_mail(
        to=author.email,
        subject=f"Your code to sign in to {host}",
        text=_TEXT.format(code=code, host=host, minutes=int(VALID_FOR.total_seconds() // 60)),
        expires_at=row.expires_at,
        is_secret=True,
        now=now,
    )


def _hmac(row: SignInCode, code: str) -> str:
    """Bind the code to its row, so that it opens no other."""
    return salted_hmac(_SALT, f"{row.browser_sha256}:{code}", algorithm="sha256").hexdigest()
