"""A client of Micropub, as the tests use it: on Django's test client, with one token."""

import json
from urllib.parse import urlencode, urlsplit

from django.test import Client

ENDPOINT = "/micropub"
FORM = "application/x-www-form-urlencoded"


class Micropub:
    def __init__(self, token):
        self.token = token
        self.http = Client()

    def headers(self, **more):
        return {"Authorization": f"Bearer {self.token}", **more} if self.token else more

    def send(self, body, content_type, **headers):
        return self.http.post(ENDPOINT, body, content_type=content_type, headers=self.headers(**headers))

    def form(self, fields, **headers):
        """Post a form; `fields` is a dictionary, or pairs where a name comes more than once."""
        return self.send(urlencode(fields), FORM, **headers)

    def json(self, content, **headers):
        return self.send(json.dumps(content), "application/json", **headers)

    def create(self, **properties):
        """Create a post by JSON and return its address; underscores stand for hyphens."""
        answer = self.json({"type": ["h-entry"], "properties": lists(properties)})
        assert answer.status_code == 201, answer.content
        return answer.headers["Location"]

    def update(self, url, **changes):
        return self.json({"action": "update", "url": url, **changes})

    def act(self, action, url):
        return self.json({"action": action, "url": url})

    def query(self, q=None, **parameters):
        given = parameters if q is None else {"q": q, **parameters}
        return self.http.get(ENDPOINT, given, headers=self.headers())

    def source(self, url, *names):
        """Return the properties of a post as the client would edit them."""
        answer = self.query("source", url=url, **({"properties[]": names} if names else {}))
        assert answer.status_code == 200, answer.content
        return answer.json()["properties"]

    def items(self, **parameters):
        return [item["properties"] for item in self.query("source", **parameters).json()["items"]]

    def page(self, url):
        """Return the answer to a reader who has the address."""
        return self.http.get(urlsplit(url).path)


def lists(properties):
    return {
        name.replace("_", "-"): value if isinstance(value, list) else [value] for name, value in properties.items()
    }
