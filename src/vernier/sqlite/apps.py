from importlib import import_module

from django.apps import AppConfig


class SqliteConfig(AppConfig):
    name = "vernier.sqlite"
    label = "vernier_sqlite"
    verbose_name = "SQLite"

    def ready(self) -> None:
        """Register the system checks."""
        import_module("vernier.sqlite.checks")
