from django.apps import AppConfig


class MediaApiConfig(AppConfig):
    name = "vernier.media_api"
    label = "media_api"
    verbose_name = "Media over HTTP"
