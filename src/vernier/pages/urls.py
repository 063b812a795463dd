"""The addresses of this app. The last one takes all that nothing else is at: include them last."""

from __future__ import annotations

from django.urls import path, re_path

from vernier.pages import feeds, lists
from vernier.pages.archive import archive, month
from vernier.pages.permalink import any_other, permalink

app_name = "pages"

# Without NUL, which no database takes for text: `any_other` answers 404.
_PART = r"[^/\x00]+"
_NAME = rf"(?P<name>{_PART})"
_FEED = r"(?P<file_name>rss\.xml|atom\.xml|feed\.json)"

urlpatterns = [
    path("", lists.home, name="home"),
    re_path(rf"^{_FEED}\Z", feeds.site_feed, name="site_feed"),
    re_path(rf"^tags/{_NAME}/{_FEED}\Z", feeds.tag_feed, name="tag_feed"),
    re_path(rf"^authors/{_NAME}/{_FEED}\Z", feeds.author_feed, name="author_feed"),
    re_path(rf"^tags/{_NAME}\Z", lists.tag, name="tag"),
    re_path(rf"^authors/{_NAME}\Z", lists.author, name="author"),
    path("archive", archive, name="archive"),
    re_path(r"^archive/(?P<year>[0-9]{4})/(?P<month>[0-9]{2})\Z", month, name="month"),
    re_path(rf"^(?P<path>[0-9]{{4}}/[0-9]{{2}}/{_PART})\Z", permalink, name="permalink"),
    path("<path:path>", any_other, name="any_other"),
]
