from django.apps import AppConfig


class MailConfig(AppConfig):
    name = "vernier.mail"
    label = "mail"
    verbose_name = "Mail"
    default_auto_field = "django.db.models.BigAutoField"
