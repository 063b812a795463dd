"""The addresses of this app. Forms with files come through `FormHandler`, for `uploads.ENDPOINTS`."""

from __future__ import annotations

from django.urls import path

from vernier.micropub.endpoint import micropub, nothing
from vernier.micropub.self_check import self_check

app_name = "micropub"

urlpatterns = [
    path("micropub", micropub, name="micropub"),
    # What is no address here is answered as one that does not exist: with JSON.
    path("micropub/<path:rest>", nothing, name="micropub_nothing"),
    path("micropub/", nothing, {"rest": ""}, name="micropub_slash"),
    path("editor/self-check", self_check, name="self_check"),
]
