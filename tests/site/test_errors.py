"""Errors that no view has answered."""

import pytest
from django.test import RequestFactory

from vernier.site.errors import server_error


@pytest.mark.parametrize(
    "path", ["/micropub", "/media", "/indieauth/token", "/.well-known/oauth-authorization-server"]
)
def test_m7__wrong_host_is_told_to_programs_in_json(client, path):
    response = client.get(path, headers={"host": "other.example"})
    assert response.status_code == 400
    assert response.json()["error"] == "invalid_request"
    assert "Host" in response.json()["error_description"]


def test_wrong_host__is_told_to_people_in_a_page(client):
    response = client.get("/", headers={"host": "other.example"})
    assert (response.status_code, response.headers["Content-Type"]) == (400, "text/html; charset=utf-8")


def test_m7__server_error_is_json_for_programs_and_a_page_for_people():
    told = server_error(RequestFactory().get("/micropub"))
    assert (told.status_code, told.headers["Content-Type"]) == (500, "application/json")
    page = server_error(RequestFactory().get("/"))
    assert (page.status_code, page.headers["Content-Type"]) == (500, "text/html; charset=utf-8")
