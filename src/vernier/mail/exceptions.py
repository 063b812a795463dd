"""The errors of this app."""


class MailError(Exception):
    """The base of all errors of this app."""


class UnusableAddress(MailError, ValueError):  # noqa: N818 - what happened
    """The text is not the address of a mailbox."""


class DeliveryError(MailError):
    """The mail was not taken; the text says why, for the operator."""


class Refused(DeliveryError):  # noqa: N818 - what happened
    """The mail server will never take this mail: permanent."""


class Deferred(DeliveryError):  # noqa: N818 - what happened
    """The mail server does not take this mail now: transient."""


class Unavailable(DeliveryError):  # noqa: N818 - what happened
    """The mail server takes no mail at all now, whatever it is: transient."""
