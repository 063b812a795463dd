"""The addresses of a site."""

from django.contrib import admin
from django.urls import include, path

from vernier.site.admin_files import admin_file
from vernier.site.health import healthz
from vernier.site.home import home
from vernier.site.metrics import metrics

admin.autodiscover()

urlpatterns = [
    path("", home, name="home"),
    path("healthz", healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path("static/admin/<path:name>", admin_file, name="admin_file"),
    path("", include("vernier.media_api.urls")),
]

handler404 = "vernier.site.home.not_found"
handler500 = "vernier.site.home.server_error"
