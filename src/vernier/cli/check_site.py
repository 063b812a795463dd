"""What each server does before it begins: settings that only their use would show to be wrong are looked at."""

from __future__ import annotations

import logging
import sqlite3

from django.conf import settings
from django.core import checks

from vernier.cli.errors import tell_checks
from vernier.site.exceptions import VernierError

logger = logging.getLogger("vernier.serve")


def check_site() -> None:
    """Run Django's system checks; log what they warn of, raise VernierError for what must not be."""
    found = checks.run_checks(databases=["default"], include_deployment_checks=False)
    errors = [message for message in found if message.is_serious()]
    if errors:
        raise VernierError(tell_checks(errors))
    for message in found:
        logger.warning(tell_checks([message]), extra={"event": "check"})
    logger.info("SQLite %s, data in %s", sqlite3.sqlite_version, settings.DATA_DIR, extra={"event": "starting"})
