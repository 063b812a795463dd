from django.apps import AppConfig


class MicropubConfig(AppConfig):
    name = "vernier.micropub"
    label = "micropub"
    verbose_name = "Micropub"
    default_auto_field = "django.db.models.BigAutoField"
