import pytest

from vernier.net.exceptions import FetchRefused
from vernier.net.target import parse_target

PORTS = {80, 443}
REFUSED = {
    "scheme": ["ftp://example.org/", "file:///etc/passwd", "gopher://example.org/", "example.org", "//example.org"],
    "user name": ["http://alice@example.org/", "http://a:b@example.org/", "http://@example.org/"],
    "allowed are": ["http://example.org:22/", "https://example.org:8443/", "http://example.org:0/"],
    "no valid port": ["http://example.org:x/", "http://example.org:99999/"],
    "ends with a dot": ["http://localhost./", "http://127.0.0.1./", "http://example.org./"],
    "usual form": ["http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/"],
    "control character or a backslash": ["http://a\\b/", "http://example.org/\r\nX: y", "http://exa\tmple.org/"],
    "not a host name": ["http:///path", "http://exa mple.org/", "http://a..b/", "http://%31/", f"http://{'a' * 64}/"],
    "network interface": ["http://[fe80::1%25eth0]/"],
    "not a URL": ["http://[::1/", "http://[::1%]/", "http://ex℀mple.org/"],
    "characters": ["http://example.org/" + "a" * 9000],
    "form with xn--": ["http://faß.example/"],
}


@pytest.mark.parametrize(("reason", "url"), [(reason, url) for reason, urls in REFUSED.items() for url in urls])
def test_parse_target__refused(reason, url):
    with pytest.raises(FetchRefused, match=reason):
        parse_target(url, ports=PORTS)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://EXAMPLE.org/", "example.org"),
        ("http://Bücher.example/", "xn--bcher-kva.example"),
        ("http://xn--bcher-kva.example/", "xn--bcher-kva.example"),
        ("http://例え。example/", "xn--r8jz45g.example"),
        # Digits of another width make an address, which is judged as one.
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://[0:0:0:0:0:0:0:1]/", "::1"),
        ("http://my_blog.example/", "my_blog.example"),
    ],
)
def test_parse_target__host(url, host):
    assert parse_target(url, ports=PORTS).host == host


def test_parse_target__what_is_sent():
    target = parse_target("https://example.org/a b/é%20?q=ü|x#part", ports=PORTS)
    assert target.path == "/a%20b/%C3%A9%20?q=%C3%BC|x"
    assert target.origin == ("https", "example.org", 443)
    assert parse_target("https://example.org?q", ports=PORTS).path == "/?q"
