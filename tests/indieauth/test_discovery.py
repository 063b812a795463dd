"""How a client finds the endpoints: IndieAuth section 4.1."""

import pytest
from django.test import Client

from vernier.authors.models import SCOPES
from vernier.indieauth.discovery import discovery_links


@pytest.fixture
def metadata():
    response = Client().get("/indieauth/metadata")
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")
    return response.json()


def test_ia_01__the_issuer_is_https_and_begins_the_address_of_the_metadata(metadata, base):
    assert metadata["issuer"] == "https://ann.example/"
    assert dict(discovery_links(base))["indieauth-metadata"].startswith(metadata["issuer"])


def test_ia_05__a_profile_page_links_the_metadata_and_the_older_endpoints(base, metadata):
    assert discovery_links(base) == [
        ("indieauth-metadata", f"{base}/indieauth/metadata"),
        ("authorization_endpoint", metadata["authorization_endpoint"]),
        ("token_endpoint", metadata["token_endpoint"]),
    ]


def test_ia_06__the_metadata_says_what_there_is(metadata, base):
    assert metadata == {
        "issuer": f"{base}/",
        "authorization_endpoint": f"{base}/indieauth/authorize",
        "token_endpoint": f"{base}/indieauth/token",
        "introspection_endpoint": f"{base}/indieauth/introspect",
        "introspection_endpoint_auth_methods_supported": ["Bearer"],
        "revocation_endpoint": f"{base}/indieauth/revoke",
        "revocation_endpoint_auth_methods_supported": ["none"],
        "userinfo_endpoint": f"{base}/indieauth/userinfo",
        "token_endpoint_auth_methods_supported": ["none"],
        "scopes_supported": list(SCOPES),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
    }


def test_ia_06__every_endpoint_that_the_metadata_names_exists(metadata, base, db):
    endpoints = [url.removeprefix(base) for name, url in metadata.items() if name.endswith("_endpoint")]
    assert len(endpoints) == 5
    assert 404 not in [Client().get(path).status_code for path in endpoints]


def test_ia_07__the_well_known_address_has_the_same_document(metadata):
    assert Client().get("/.well-known/oauth-authorization-server").json() == metadata


def test_ia_33__tickets_and_autoauth_are_not_offered(metadata, client, db):
    assert "ticket_endpoint" not in metadata
    response = client.post("/indieauth/token", {"grant_type": "ticket", "ticket": "x"})
    assert (response.status_code, response.json()["error"]) == (400, "unsupported_grant_type")


@pytest.mark.parametrize("name", ["token", "metadata", "introspect", "userinfo", "revoke", "authorize"])
def test_i4__scripts_of_other_sites_may_ask_with_a_token(client, name):
    response = client.options(
        f"/indieauth/{name}",
        headers={
            "Origin": "https://app.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization, content-type",
        },
    )
    assert (response.status_code, response["Access-Control-Allow-Origin"]) == (204, "*")
    assert {"Authorization", "Content-Type"} <= set(response["Access-Control-Allow-Headers"].split(", "))


def test_i4__scripts_may_read_answers_and_their_headers(client, db):
    for response in (client.get("/indieauth/metadata"), client.post("/indieauth/token")):
        assert response["Access-Control-Allow-Origin"] == "*"
        assert response["Access-Control-Expose-Headers"] == "Location, Link"
        assert "Access-Control-Allow-Credentials" not in response
