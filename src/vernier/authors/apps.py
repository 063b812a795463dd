from django.apps import AppConfig


class AuthorsConfig(AppConfig):
    name = "vernier.authors"
    label = "authors"
    verbose_name = "Authors"
    default_auto_field = "django.db.models.BigAutoField"
