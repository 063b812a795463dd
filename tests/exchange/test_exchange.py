"""Import and export: what goes out comes back as it was, and importing twice changes nothing."""

import re
from dataclasses import replace

import pytest
from django.contrib.auth import get_user_model

from tests.media.factory import image_bytes
from tests.media.worker import Clock, run_version
from tests.posts.factory import BASE, NOW, make_post, photo_of
from vernier.exchange.documents import DOCUMENT_BYTES_MAX
from vernier.exchange.exceptions import DirectoryNotEmpty
from vernier.exchange.export import export_site
from vernier.exchange.import_folder import Importer, find_files
from vernier.media import accept_upload
from vernier.media.models import Media
from vernier.posts.delete import delete_post
from vernier.posts.entry import Content, ContentFormat, Kind, Status, Visibility
from vernier.posts.models import Permalink, Post, own_posts
from vernier.posts.write import change_post

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def author(transactional_db):
    return get_user_model().objects.create_user("alice")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def upload(author, colour=(10, 20, 30)):
    return accept_upload([image_bytes(colour=colour)], owner=author)


def take_all(folder, author, **options):
    importer = Importer(folder, author, base=BASE, **options)
    return [importer.take(file) for file in find_files(folder.resolve())]


def outcomes(imported):
    return [(one.file.name, one.outcome) for one in imported]


def emptied():
    """Leave what a new site has."""
    Post.objects.all().delete()
    Media.objects.update(deleted_at=NOW, current=None)


def test_export__comes_back_as_it_was(author, tmp_path):
    accepted = upload(author)
    run_version(accepted, Clock())
    media = Media.objects.get()
    post = make_post(
        author,
        title="A walk",
        tags=("ü", "b"),
        photos=(replace(photo_of(media, "A hill"), caption="Top"),),
        status=Status.PUBLISHED,
        visibility=Visibility.UNLISTED,
        published_at=NOW.astimezone(),
        properties={"in-reply-to": ["https://a.example/"], "checkin": [{"type": ["h-card"]}]},
    )
    change_post(author, post.pk, lambda entry: replace(entry, slug="hike"), now=NOW)
    before = Post.objects.get()
    export_site(tmp_path / "out", base=BASE)
    emptied()
    assert {one.outcome for one in take_all(tmp_path / "out", author)} == {"new", "known"}
    after = Post.objects.get()
    assert (after.pk, after.path, after.updated_at) == (before.pk, before.path, before.updated_at)
    texts = [(photo.alt, photo.caption) for photo in after.photos.all()]
    assert texts == [("A hill", "Top")]
    assert replace(after.entry, photos=()) == replace(before.entry, photos=())
    assert Permalink.objects.filter(path="2026/11/a-walk", post=after).exists()


@pytest.mark.parametrize(
    "text", ["![hill]({})", "[![hill]({0})]({0})", '<a href="{}">hill</a>', "See {}, a hill.", "`{}`"]
)
def test_export__images_in_the_text_go_with_it(author, tmp_path, text):
    accepted = upload(author)
    source = text.format(f"{BASE}/media/{accepted.media_id}")
    content = Content(format=ContentFormat.MARKDOWN, source=source)
    make_post(author, "", properties={"x": ["1"]}, title="T")
    change_post(author, Post.objects.get().pk, lambda entry: replace(entry, content=content))
    export_site(tmp_path / "out", base=BASE)
    written = next((tmp_path / "out" / "posts").rglob("*.md")).read_text()
    assert text.format(f"../../../images/{accepted.media_id}.jpg") in written
    emptied()
    take_all(tmp_path / "out", author)
    new = Media.objects.live().get()
    assert Post.objects.get().content == text.format(f"{BASE}/media/{new.pk}")


def test_export__what_is_deleted_stays_behind(author, tmp_path):
    delete_post(author, make_post(author).pk)
    exported = export_site(tmp_path / "out", base=BASE)
    assert (exported.posts, exported.images) == (0, 0)


def test_export__image_without_a_file_is_reported_and_its_post_comes_back(author, tmp_path):
    media = Media.objects.get(pk=upload(author).media_id)
    media.versions.update(staging_key="")
    make_post(author, photos=(photo_of(media, "A hill"),))
    exported = export_site(tmp_path / "out", base=BASE)
    assert exported.without_file == (media.pk,)
    emptied()
    assert {one.outcome for one in take_all(tmp_path / "out", author)} == {"new"}


def test_export__does_not_mix_with_other_files(author, tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(DirectoryNotEmpty):
        export_site(tmp_path, base=BASE)


def test_import__twice_changes_nothing(author, folder):
    (folder / "a.jpg").write_bytes(image_bytes())
    (folder / "post.md").write_text("---\ntitle: T\nphotos: [a.jpg]\n---\nText")
    assert outcomes(take_all(folder, author)) == [("post.md", "new"), ("a.jpg", "known")]
    post = Post.objects.get()
    assert outcomes(take_all(folder, author)) == [("post.md", "known"), ("a.jpg", "known")]
    assert (Post.objects.get().entry, Media.objects.count()) == (post.entry, 1)


def test_import__what_generators_write(author, folder):
    (folder / "2024-05-06-my-walk.md").write_text(
        "---\nlayout: post\ntitle: My walk\ndate: 2024-05-06 07:08:09 +0200\ntags: a, b\ncategories: [c]\n---\n*Hi*"
    )
    (folder / "wip.md").write_text("---\ntitle: Later\ndraft: true\n---\nText")
    take_all(folder, author)
    walk, wip = Post.objects.order_by("path")
    assert (walk.path, walk.content_html) == ("2024/05/my-walk", "<p><em>Hi</em></p>")
    assert walk.entry.tags == ("a", "b", "c")
    assert walk.published.isoformat() == "2024-05-06T07:08:09+02:00"
    assert (wip.status, walk.kind) == (Status.DRAFT, Kind.ARTICLE)


@pytest.mark.parametrize("name", ["2024-05-06-my-walk.md", "2024-05-06-my-walk/index.md"])
def test_import__takes_the_date_from_the_name_where_nothing_else_has_it(author, folder, name):
    file = folder / "posts" / name
    file.parent.mkdir(parents=True)
    file.write_text("---\ntitle: Hills\n---\nText")
    take_all(folder, author)
    post = Post.objects.get()
    assert (post.path, post.published.date().isoformat()) == ("2024/05/my-walk", "2024-05-06")


@pytest.mark.parametrize("head", ["draft: true", 'draft: "true"', "draft: yes", "draft: 1", "published: false"])
def test_import__publishes_no_draft_however_it_is_marked(author, folder, head):
    (folder / "a.md").write_text(f"---\n{head}\n---\nText")
    take_all(folder, author)
    assert Post.objects.get().status == Status.DRAFT


@pytest.mark.parametrize("head", ["draft: false", 'draft: "no"', "draft:", "published: true"])
def test_import__publishes_what_is_no_draft(author, folder, head):
    (folder / "a.md").write_text(f"---\n{head}\n---\nText")
    take_all(folder, author)
    assert Post.objects.get().status == Status.PUBLISHED


@pytest.mark.parametrize(
    ("head", "updated"),
    [("date: 2024-05-06T10:00:00Z", "2024-05-06"), ("date: 2024-05-06\nlastmod: 2024-07-08T10:00:00Z", "2024-07-08")],
)
def test_import__is_no_change_of_the_post(author, folder, head, updated):
    (folder / "a.md").write_text(f"---\n{head}\n---\nText")
    take_all(folder, author)
    assert Post.objects.get().updated_at.date().isoformat() == updated


def test_import__posts_stand_in_the_authors_list_by_their_dates(author, folder):
    (folder / "a.md").write_text("---\ndate: 2020-05-04\n---\nNewer.\n")
    (folder / "b.md").write_text("---\ndate: 2019-05-04\n---\nOlder.\n")
    take_all(folder, author)
    assert [post.content.strip() for post in own_posts(author)] == ["Newer.", "Older."]


def test_import__dry_run_writes_nothing_and_says_the_same(author, folder):
    (folder / "a.jpg").write_bytes(image_bytes())
    (folder / "b.jpg").write_bytes(b"no image")
    (folder / "one.md").write_text("![x](a.jpg)")
    (folder / "two.md").write_text("![x](gone.jpg)")
    (folder / "void.md").write_text("---\ndate: 2024-01-01\n---\n")
    dry = outcomes(take_all(folder, author, is_dry_run=True))
    assert not Post.objects.exists()
    assert not Media.objects.exists()
    assert outcomes(take_all(folder, author)) == dry
    assert dry == [
        ("one.md", "new"),
        ("two.md", "refused"),
        ("void.md", "refused"),
        ("a.jpg", "known"),
        ("b.jpg", "refused"),
    ]


def test_import__folder_of_images_fills_the_library_or_makes_posts(author, folder):
    (folder / "a.jpg").write_bytes(image_bytes())
    take_all(folder, author)
    assert (Media.objects.count(), Post.objects.count()) == (1, 0)
    take_all(folder, author, makes_posts=True)
    assert (Media.objects.count(), Post.objects.get().kind) == (1, Kind.PHOTO)


@pytest.mark.parametrize(
    "text", ["![x](<a photo.jpg>)", '<img src="a photo.jpg">', "![x](a%20photo.jpg)", '![x](<a photo.jpg> "y")']
)
def test_import__image_may_have_spaces_in_its_name(author, folder, text):
    (folder / "a photo.jpg").write_bytes(image_bytes())
    (folder / "a.md").write_text(text)
    take_all(folder, author)
    address = f"{BASE}/media/{Media.objects.get().pk}"
    assert Post.objects.get().content == re.sub("a(%20| )photo.jpg", address, text)


@pytest.mark.parametrize("name", ["../secret.jpg", "/../secret.jpg", "..%2Fsecret.jpg"])
def test_import__takes_nothing_from_outside_the_folder(author, folder, name):
    (folder.parent / "secret.jpg").write_bytes(image_bytes())
    (folder / "a.md").write_text(f"![x]({name})")
    (imported,) = take_all(folder, author)
    assert imported.outcome == "refused"
    assert not Media.objects.exists()


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("date: yesterday", "published"),
        ("status: publish", "post-status"),
        ("photos: [gone.jpg]", "gone.jpg"),
        ("format: rst", "format"),
        ("photos: [5]", "photos"),
        ("properties: {x: [.nan]}", "finite"),
        ("properties: {x: [!!binary aGk=]}", "JSON"),
        ('photos: ["a\\0b"]', "called"),
        ("draft: maybe", "draft"),
        ("draft: [true]", "draft"),
    ],
)
def test_import__says_what_is_wrong_with_a_file(author, folder, head, reason):
    (folder / "a.md").write_text(f"---\n{head}\n---\nText")
    (imported,) = take_all(folder, author)
    assert imported.outcome == "refused"
    assert reason in imported.detail


def test_import__takes_the_profile_that_an_export_has_written(author, tmp_path):
    media_id = upload(author).media_id
    author.display_name, author.note, author.links = "Alice", "Walks.", ["https://a.example/"]
    author.photo_id = media_id
    author.save()
    export_site(tmp_path / "out", base=BASE)
    type(author).objects.update(display_name="", note="Mine.", links=[], photo=None)
    author.refresh_from_db()
    importer = Importer(tmp_path / "out", author, base=BASE)
    assert importer.take_profile().outcome == "new"
    author.refresh_from_db()
    assert (author.display_name, author.note, author.links) == ("Alice", "Mine.", ["https://a.example/"])
    assert author.photo_id == media_id
    assert importer.take_profile().outcome == "known"


@pytest.mark.parametrize("written", [b"- name: alice\n  links: [nonsense]\n", b"a: b"])
def test_import__broken_profile_is_said(author, folder, written):
    (folder / "authors.yaml").write_bytes(written)
    assert "authors.yaml" in Importer(folder, author, base=BASE).take_profile().detail


@pytest.mark.parametrize("content", [b"- name: \xff", b"- name: alice\n" + b"#" * DOCUMENT_BYTES_MAX])
def test_import__profile_that_cannot_be_read_is_said(author, folder, content):
    (folder / "authors.yaml").write_bytes(content)
    assert Importer(folder, author, base=BASE).take_profile().outcome == "refused"


def test_import__post_of_another_author_stays_theirs(author, folder):
    get_user_model().objects.create_user("bob")
    (folder / "a.md").write_text("---\nauthor: bob\n---\nText")
    (folder / "b.md").write_text("---\nauthor: carol\n---\nText")
    assert outcomes(take_all(folder, author)) == [("a.md", "refused"), ("b.md", "new")]
