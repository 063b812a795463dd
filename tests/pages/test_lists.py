import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from tests.media_api.factory import make_media
from tests.pages.factory import NOON, html, publish, publish_many
from vernier.posts.delete import delete_post
from vernier.posts.entry import Status, Visibility


def names(page):
    return re.findall(r"Note \d+", page)


def test_home__is_a_feed_of_the_newest_posts(author, client, parse):
    publish_many(author, 25)
    assert names(client.get("/").text) == [f"Note {index}" for index in range(24, 4, -1)]
    feed = next(item for item in parse()["items"] if item["type"] == ["h-feed"])
    assert feed["properties"]["name"] == ["127.0.0.1"]
    assert len(feed["children"]) == 20


@pytest.mark.parametrize("title", ["Long", ""])
def test_home__shows_the_beginning_of_a_long_text(author, client, parse, title):
    post = publish(author, title=title, content="First words. " + "More words. " * 1000 + "Last words.")
    shown = parse()["items"][-1]["children"][0]["properties"]
    assert shown["summary"][0].startswith("First words. More words.")
    assert f'<a href="http://127.0.0.1:8000/{post.path}">Read on' in client.get("/").text
    for path in (f"/{post.path}", "/rss.xml", "/atom.xml", "/feed.json"):
        assert "Last words." in client.get(path).text
    assert "Last words." not in client.get("/").text


def test_home__shows_a_long_text_that_has_no_words(author, client):
    publish(author, content=html('<img src="https://img.example/1.jpg">' * 300))
    assert client.get("/").text.count("https://img.example/1.jpg") == 300


def test_home__says_who_it_belongs_to(author, parse):
    author.display_name, author.note = "Alice A.", "Birds & bread"
    author.photo, author.links = make_media(author), ["https://code.example/alice", "javascript:alert(1)", 5]
    author.save()
    page = parse()
    card = page["items"][0]
    assert card["type"] == ["h-card"]
    assert card["properties"]["name"] == ["Alice A."]
    assert card["properties"]["uid"] == ["http://127.0.0.1:8000/"]
    assert card["properties"]["url"] == ["http://127.0.0.1:8000/", "https://code.example/alice"]
    assert card["properties"]["note"] == ["Birds & bread"]
    assert page["rels"]["me"] == ["https://code.example/alice"]


@pytest.mark.django_db
def test_home__without_posts_and_authors_is_a_page(client):
    assert "Nothing has been published here yet." in client.get("/").text


@pytest.mark.parametrize(
    "hidden",
    [
        {"status": Status.DRAFT},
        {"visibility": Visibility.UNLISTED},
        {"visibility": Visibility.PRIVATE},
        {"published_at": datetime.now(tz=UTC) + timedelta(days=1)},
    ],
)
def test_lists__have_no_post_that_is_not_for_everybody(hidden, author, client):
    publish(author, content="Hidden words", tags=("a",), **hidden)
    publish(author, content="Open words", tags=("a",))
    for path in ("/", "/tags/a", "/authors/alice", "/archive/2026/03", "/rss.xml", "/atom.xml", "/feed.json"):
        page = client.get(path).text
        assert "Open words" in page
        assert "Hidden words" not in page


def test_lists__have_no_deleted_post(author, client):
    post = publish(author, tags=("a",))
    delete_post(author, post.pk)
    assert "Some words." not in client.get("/").text
    assert client.get("/tags/a").status_code == 404
    assert "Some words." not in client.get("/authors/alice").text


def test_lists__show_a_post_near_a_change_of_clocks(author, client):
    """M3: the offset counts, whatever the clocks of the site do."""
    for offset in (60, 120):
        now = timezone.now().replace(microsecond=0)
        publish(author, content=f"Offset {offset}", published_at=now.astimezone(timezone.get_fixed_timezone(offset)))
        assert f"Offset {offset}" in client.get("/").text


def test_pages__go_through_all_posts_and_back(author, client):
    publish_many(author, 45)
    seen, path = [], "/"
    while path:
        page = client.get(path).text
        seen.append(names(page))
        path = next(iter(re.findall(r'<link rel="next" href="([^"]+)"', page)), None)
    assert [name for piece in seen for name in piece] == [f"Note {index}" for index in range(44, -1, -1)]
    back = client.get(re.search(r'<a rel="prev" href="([^"]+)"', page)[1]).text
    assert names(back) == seen[1]
    start = client.get(re.search(r'<a rel="prev" href="([^"]+)"', back)[1])
    assert (start.status_code, start["Location"]) == (302, "/")


def test_pages__divide_posts_of_one_moment(author, client):
    posts = [publish(author, content=f"Note {index}") for index in range(30)]
    first = client.get("/").text
    second = client.get(re.search(r'<a rel="next" href="([^"]+)"', first)[1]).text
    assert len(set(names(first) + names(second))) == len(posts)


@pytest.mark.parametrize("query", ["before=x", "after=", "before=1_2", f"before={'9' * 18}_{'a' * 32}", "after=%00"])
def test_pages__nonsense_is_not_found(query, author, client):
    publish(author)
    assert client.get(f"/?{query}").status_code == 404


def test_page__of_older_posts_has_its_own_address(author, client):
    publish_many(author, 21)
    path = re.search(r'<link rel="next" href="([^"]+)"', client.get("/").text)[1]
    assert f'<link rel="canonical" href="http://127.0.0.1:8000{path}">' in client.get(path).text


def test_tag__lists_its_posts_in_order(author, client):
    publish_many(author, 3, tags=("Low Sun",))
    publish(author, content="Other")
    page = client.get("/tags/low-sun").text
    assert names(page) == ["Note 2", "Note 1", "Note 0"]
    assert "Other" not in page
    assert '<h1 class="p-name">Low Sun</h1>' in page
    assert 'href="http://127.0.0.1:8000/tags/low-sun/rss.xml"' in page


def test_tag__has_pages(author, client):
    publish_many(author, 25, tags=("a",))
    path = re.search(r'<link rel="next" href="([^"]+)"', client.get("/tags/a").text)[1]
    assert names(client.get(path).text) == [f"Note {index}" for index in range(4, -1, -1)]


@pytest.mark.parametrize(("spelled", "path"), [("Low%20Sun", "/tags/low-sun"), ("日本", "/tags/%E6%97%A5%E6%9C%AC")])
def test_tag__has_one_address(spelled, path, author, client):
    publish(author, tags=("Low sun", "日本"))
    assert client.get(path).status_code == 200
    if spelled.startswith("Low"):
        response = client.get(f"/tags/{spelled}")
        assert (response.status_code, response["Location"]) == (301, path)
    assert f'href="{path}"' in client.get("/").text


def test_tag__unknown_is_not_found(author, client):
    assert client.get("/tags/nothing").status_code == 404
    assert client.get("/tags/nothing/rss.xml").status_code == 404


def test_author__has_a_page_and_a_profile(author, client, django_user_model, parse):
    bob = django_user_model.objects.create_user("bob", display_name="Bob")
    publish(author, content="By Alice")
    publish(bob, content="By Bob")
    page = client.get("/authors/bob").text
    assert "By Bob" in page
    assert "By Alice" not in page
    assert parse("/authors/bob")["items"][0]["properties"]["uid"] == ["http://127.0.0.1:8000/authors/bob"]


def test_author__unknown_or_inactive_is_not_found(author, client, django_user_model):
    django_user_model.objects.create_user("carol", is_active=False)
    assert client.get("/authors/carol").status_code == 404
    assert client.get("/authors/nobody").status_code == 404


def find_servers(base):
    return [("micropub", f"{base}/micropub")]


def test_profile_pages__name_the_servers_of_their_author(author, client, settings, parse):
    settings.VERNIER_PAGES = {"DISCOVERY": ("tests.pages.test_lists.find_servers",)}
    for path in ("/", "/authors/alice"):
        headers = client.get(path).headers
        assert headers["Link"] == '<http://127.0.0.1:8000/micropub>; rel="micropub"'
        assert headers["Access-Control-Allow-Origin"] == "*"
        assert headers["Access-Control-Expose-Headers"] == "Location, Link"
        assert parse(path)["rels"]["micropub"] == ["http://127.0.0.1:8000/micropub"]
    assert "Link" not in client.get("/archive").headers


@pytest.mark.parametrize("path", ["/", "/authors/alice"])
def test_i4__scripts_of_other_sites_may_ask_the_profile_page(path, author, client):
    asked = {"Origin": "https://app.example", "Access-Control-Request-Headers": "authorization"}
    answer = client.options(path, headers=asked)
    assert (answer.status_code, answer["Access-Control-Allow-Origin"]) == (204, "*")
    assert "Authorization" in answer["Access-Control-Allow-Headers"].split(", ")
    assert client.post(path).status_code == 405


def test_home__links_its_feeds(author, parse):
    found = parse()["rel-urls"]
    types = {one["type"] for one in found.values() if "alternate" in one["rels"]}
    assert types == {"application/rss+xml", "application/atom+xml", "application/feed+json"}


def test_archive__counts_by_month(author, client):
    publish_many(author, 3)
    publish(author, published_at=datetime(2024, 12, 31, 23, tzinfo=UTC))
    publish(author, published_at=NOON, visibility=Visibility.UNLISTED)
    page = re.sub(r"\s+", " ", client.get("/archive").text)
    assert '<a href="/archive/2026/03">March</a> <span class="quiet">3</span>' in page
    assert '<a href="/archive/2024/12">December</a> <span class="quiet">1</span>' in page
    assert page.count("<section") == 2


def test_archive__month_lists_its_posts(author, client):
    publish_many(author, 2)
    publish(author, content="Other", published_at=datetime(2026, 4, 1, tzinfo=UTC))
    page = client.get("/archive/2026/03").text
    assert names(page) == ["Note 1", "Note 0"]
    assert "Other" not in page
    assert client.get("/archive/2026/02").status_code == 404


@pytest.mark.parametrize("path", ["0000/01", "2026/13", "2026/00", "9999/12", "0001/01"])
def test_archive__no_such_month_is_not_found(path, author, client):
    assert client.get(f"/archive/{path}").status_code == 404


def test_archive__takes_the_oldest_time_that_there_is(author, client, settings):
    settings.TIME_ZONE = "Europe/Berlin"
    publish(author, published_at=datetime(1, 1, 1, 12, tzinfo=UTC))
    assert client.get("/archive").status_code == 200
    assert client.get("/archive/0001/01").status_code == 200
