"""An app that signs authors in: what it sends and what it gets, through Django's test client."""

from __future__ import annotations

import hashlib
import re
from base64 import urlsafe_b64encode
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CLIENT_ID = "https://app.example/"
REDIRECT_URI = "https://app.example/callback"
AUTHORIZE = "/indieauth/authorize"
TOKEN = "/indieauth/token"


def challenge(verifier):
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


class App:
    """`browser` is the author's, `server` is the app's own; neither follows redirects."""

    def __init__(self, browser, server, *, client_id=CLIENT_ID, redirect_uri=REDIRECT_URI):
        self.browser = browser
        self.server = server
        self.client_id = client_id
        self.redirect_uri = redirect_uri

    def request(self, **changes):
        """The parameters of an authorization request; None leaves one out."""
        parameters = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "state": "a state & more",
            "scope": "create media",
            "code_challenge": challenge(VERIFIER),
            "code_challenge_method": "S256",
            **changes,
        }
        return {name: value for name, value in parameters.items() if value is not None}

    def url(self, **changes):
        return f"{AUTHORIZE}?{urlencode(self.request(**changes), doseq=True)}"

    def ask(self, **changes):
        return self.browser.get(self.url(**changes))

    def decide(self, page, decision, *, scopes=None):
        """Press a button of the consent page, with these boxes ticked or as they are."""
        shown = ticked(page)
        return self.browser.post(
            form_action(page),
            {"consent": consent_of(page), "scope": shown if scopes is None else scopes, "decision": decision},
        )

    def code(self, *, scopes=None, **changes):
        """Return the code of a request that the author has approved."""
        return answer_of(self.decide(self.ask(**changes), "approve", scopes=scopes))["code"]

    def redemption(self, code, /, **changes):
        parameters = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "code_verifier": VERIFIER,
            **changes,
        }
        return {name: value for name, value in parameters.items() if value is not None}

    def redeem(self, code, /, *, at=TOKEN, **changes):
        return self.server.post(at, self.redemption(code, **changes))

    def sign_in(self, **changes):
        """Return the token response of a whole sign-in."""
        response = self.redeem(self.code(**changes))
        assert response.status_code == 200, response.content
        return response.json()

    def refresh(self, refresh_token, /, **changes):
        form = {"grant_type": "refresh_token", "refresh_token": refresh_token, "client_id": self.client_id, **changes}
        return self.server.post(TOKEN, form)


def text_of(page):
    return unescape(page.content.decode())


def consent_of(page):
    return unescape(re.search(r'name="consent" value="([^"]*)"', page.content.decode())[1])


def form_action(page):
    return unescape(re.search(r'method="post" action="([^"]*)"', page.content.decode())[1])


def ticked(page):
    return re.findall(r'name="scope" value="(\w+)" checked', page.content.decode())


def answer_of(response):
    """Return the parameters of the redirect to the app, each of which is there once."""
    assert response.status_code == 302, response.content
    values = parse_qs(urlsplit(response["Location"]).query, keep_blank_values=True)
    assert all(len(value) == 1 for value in values.values())
    return {name: value[0] for name, value in values.items()}


def bearer(token):
    return {"Authorization": f"Bearer {token}"}
