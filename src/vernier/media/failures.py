"""Why an upload could not be turned into renditions: reason codes, and the sentence an author reads."""

from django.db import models


class FailureCode(models.TextChoices):
    """A reason code as it is stored; its label is the sentence for the author."""

    UNDECODABLE = "undecodable", "This file is damaged or is not really an image, so it cannot be read."
    TRUNCATED = "truncated", "This file ends too early: part of the image is missing. Please upload it again."
    TOO_MANY_PIXELS = (
        "too-many-pixels",
        "This image has more pixels than this site accepts. Please upload a smaller copy.",
    )
    UNSUPPORTED_TYPE = "unsupported-type", "This kind of file is not accepted here."
    TOO_COMPLEX = "too-complex", "This image is built in a way that takes too much work to read."
    DECODER_CRASHED = "decoder-crashed", "Reading this image crashed the decoder, twice."
    OUT_OF_MEMORY = "out-of-memory", "This image needs more memory than the server has for it."
    STORAGE_UNAVAILABLE = "storage-unavailable", "The server could not store the image."
    TIME_LIMIT = "time-limit", "This image takes longer to process than this site allows."
    ORIGINAL_LOST = "original-lost", "The uploaded file is no longer on the server. Please upload it again."
    ATTEMPTS_SPENT = (
        "attempts-spent",
        "The server tried several times to process this image and did not succeed.",
    )
