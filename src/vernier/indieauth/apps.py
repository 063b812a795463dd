from django.apps import AppConfig


class IndieAuthConfig(AppConfig):
    name = "vernier.indieauth"
    label = "indieauth"
    verbose_name = "IndieAuth"
    default_auto_field = "django.db.models.BigAutoField"
