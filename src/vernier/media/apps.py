from importlib import import_module

from django.apps import AppConfig


class MediaConfig(AppConfig):
    name = "vernier.media"
    label = "media"
    verbose_name = "Media"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the system checks."""
        import_module("vernier.media.checks")
