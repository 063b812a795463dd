"""The addresses of a site."""

from django.contrib import admin
from django.urls import include, path

from vernier.site.health import healthz
from vernier.site.metrics import metrics
from vernier.site.static_files import static_file

admin.autodiscover()

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path("static/<path:name>", static_file, name="static_file"),
    path("", include("vernier.media_api.urls")),
    path("", include("vernier.authors.urls")),
    path("", include("vernier.indieauth.urls")),
    path("", include("vernier.micropub.urls")),
    path("", include("vernier.editor.urls")),
    # Last: it answers for every address that nothing else is at.
    path("", include("vernier.pages.urls")),
]

handler400 = "vernier.site.errors.bad_request"
handler403 = "vernier.pages.errors.forbidden"
handler404 = "vernier.pages.errors.not_found"
handler500 = "vernier.site.errors.server_error"
