from django.apps import AppConfig


class EditorConfig(AppConfig):
    name = "vernier.editor"
    label = "editor"
    verbose_name = "Editor"
    default_auto_field = "django.db.models.BigAutoField"
