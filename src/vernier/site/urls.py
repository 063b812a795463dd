"""The addresses of a site."""

from django.urls import include, path

from vernier.site.health import healthz
from vernier.site.home import home

urlpatterns = [
    path("", home, name="home"),
    path("healthz", healthz, name="healthz"),
    path("", include("vernier.media_api.urls")),
]

handler404 = "vernier.site.home.not_found"
handler500 = "vernier.site.home.server_error"
