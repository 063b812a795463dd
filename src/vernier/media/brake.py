"""The brake: more than this is wrong in one go only where something bigger is wrong, so nothing is touched."""

# Below this many files a share says nothing: in a small archive one replaced image is more than a tenth.
FILES_MAX = 100
# A disk that is not mounted, a wrong setting or an old database concern more than one file in ten.
SHARE_MAX = 0.1

# What a person does who knows that it is right all the same.
PAST_IT = "vernier doctor --force, or in another project manage.py vernier_housekeeping --force"


def brakes(count: int, *, of: int) -> bool:
    """Return whether so many files, `of` so many that were looked at, are too many to be removed or given up."""
    return count > max(FILES_MAX, SHARE_MAX * of)
