from datetime import timedelta

import pytest

from vernier.authors.limits import Limit, TooManyTries, count_try, give_back

LIMIT = Limit(name="test", times=2, window=timedelta(minutes=15))


def test_limit__ends_with_its_window(clock):
    for _ in range(2):
        count_try(LIMIT, "ann", now=clock.now)
    with pytest.raises(TooManyTries) as raised:
        count_try(LIMIT, "ann", now=clock.now)
    clock.move(seconds=raised.value.retry_after_seconds)
    count_try(LIMIT, "ann", now=clock.now)


def test_limit__of_one_is_not_that_of_another(clock):
    for who in ("ann", "bob", "\u00df", "a" * 10_000, "\0", "\ud800"):
        for _ in range(2):
            count_try(LIMIT, who, now=clock.now)


@pytest.mark.parametrize("alias", ["ANN", " ann", "\uff41nn"])
def test_limit__names_that_look_alike_are_one(clock, alias):
    count_try(LIMIT, "ann", now=clock.now)
    count_try(LIMIT, alias, now=clock.now)
    with pytest.raises(TooManyTries):
        count_try(LIMIT, "ann", now=clock.now)


def test_limit__what_succeeds_is_given_back(clock):
    for _ in range(10):
        count_try(LIMIT, "ann", now=clock.now)
        give_back(LIMIT, "ann", now=clock.now)
    give_back(LIMIT, "nobody", now=clock.now)
