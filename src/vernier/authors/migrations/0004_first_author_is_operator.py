"""The first author of a site is its operator; one made before there was a sign-in becomes it now."""

from django.db import migrations


def promote_first(apps, schema_editor):
    Author = apps.get_model("authors", "Author")
    if Author.objects.filter(is_superuser=True).exists():
        return
    first = Author.objects.order_by("pk").first()
    if first is not None:
        Author.objects.filter(pk=first.pk).update(is_staff=True, is_superuser=True)


class Migration(migrations.Migration):
    dependencies = [("authors", "0003_sign_in")]

    operations = [migrations.RunPython(promote_first, migrations.RunPython.noop)]
