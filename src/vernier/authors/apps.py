from importlib import import_module

from django.apps import AppConfig


class AuthorsConfig(AppConfig):
    name = "vernier.authors"
    label = "authors"
    verbose_name = "Authors"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Connect the notices to the signals of the pipeline."""
        import_module("vernier.authors.notices")
