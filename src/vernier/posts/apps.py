from django.apps import AppConfig


class PostsConfig(AppConfig):
    name = "vernier.posts"
    label = "posts"
    verbose_name = "Posts"
    default_auto_field = "django.db.models.BigAutoField"
