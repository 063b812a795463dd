"""What the operator is told in one sentence instead of a traceback."""


class VernierError(Exception):
    """A reason why a command cannot do its work; the message is for the operator."""

    exit_code = 1


class SettingError(VernierError):
    """A setting has a value that is not valid."""

    exit_code = 2


class DataDirectoryError(VernierError):
    """The data directory cannot be used."""
