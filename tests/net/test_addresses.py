from ipaddress import ip_address

import pytest

from vernier.net.addresses import is_local_name, is_public, literal_address

# fmt: off
NOT_PUBLIC = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.254", "127.0.0.1", "127.255.0.1",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.9", "192.0.2.1", "192.88.99.1",
    "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
    "255.255.255.255", "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1",
    "64:ff9b::808:808", "64:ff9b:1::a00:1", "100::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:20::1", "2001:db8::1", "2002:7f00:1::", "2002:808:808::1", "3fff::1", "5f00::1", "fc00::1",
    "fd12:3456::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "ff0e::1",
]
PUBLIC = [
    "1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.32.0.1", "193.0.0.1", "2001:4860:4860::8888",
    "2606:4700::1111",
]
# fmt: on
ODD = ["127.1", "2130706433", "017700000001", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.0.0.01", "1.2.3", "a.0x7f"]


@pytest.mark.parametrize("text", NOT_PUBLIC)
def test_is_public__no(text):
    assert not is_public(ip_address(text))


@pytest.mark.parametrize("text", PUBLIC)
def test_is_public__yes(text):
    assert is_public(ip_address(text))


@pytest.mark.parametrize("host", [*ODD, "256.1.1.1", "1.2.3.4.5", ":::", "::g"])
def test_literal_address__in_an_odd_spelling(host):
    with pytest.raises(ValueError):
        literal_address(host)


def test_literal_address__of_an_address_and_of_a_name():
    assert literal_address("::1") == ip_address("::1")
    assert literal_address("192.0.2.1") == ip_address("192.0.2.1")
    assert literal_address("7.example") is None


def test_is_local_name__with_what_is_below_it():
    assert is_local_name("localhost")
    assert is_local_name("a.localhost")
    assert not is_local_name("notlocalhost")
