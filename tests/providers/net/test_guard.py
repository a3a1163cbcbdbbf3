"""Nothing private is read: by no notation, through no name server that changes its mind, after no redirect."""

import errno
import socket
from collections.abc import Callable
from ipaddress import IPv4Address, ip_address
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth_providers.base import Request
from sleuth_providers.errors import BadRequestError, PrivateAddressError, ProviderError
from sleuth_providers.net import guard
from sleuth_providers.net.client import HttpClient
from sleuth_providers.net.connection import check_behind_proxy
from sleuth_providers.net.policy import Policy
from sleuth_providers.net.urls import split_url

# As one may write them in an address; {port} is a server that must not be reached.
PRIVATE_FORMS = (
    "127.0.0.1:{port}",
    "localhost:{port}",
    "LOCALHOST:{port}",
    "127.1:{port}",
    "127.0.1:{port}",
    "2130706433:{port}",
    "0x7f000001:{port}",
    "0x7f.1:{port}",
    "0x7f.0x0.0x0.0x1:{port}",
    "017700000001:{port}",
    "0177.0.0.1:{port}",
    "0177.0x0.0.1:{port}",
    "127.255.255.254:{port}",
    "0.0.0.0:{port}",
    "0:{port}",
    "[::1]:{port}",
    "[0:0:0:0:0:0:0:1]:{port}",
    "[::]:{port}",
    "[::ffff:127.0.0.1]:{port}",
    "[::ffff:7f00:1]:{port}",
    "[::127.0.0.1]:{port}",
    "[64:ff9b::7f00:1]:{port}",
    "[64:ff9b::169.254.169.254]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::1]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    "[fe80::1]",
    "[fe80::1%lo]",
    "[fec0::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[ff02::1]",
    "[2001:db8::1]",
    "[3fff::1]",
    "[100::1]",
    "169.254.169.254",
    "0xa9fea9fe",
    "2852039166",
    "10.0.0.1",
    "10.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "192.168.257",
    "100.64.0.1",
    "192.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
)
PUBLIC = ("8.8.8.8", "1.1.1.1", "93.184.215.14", "100.128.0.1", "172.32.0.1", "223.255.255.255", "2606:4700::1111")
PUBLIC += ("2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "2a00:1450:4001::1")


def get(address: str, check: Any = guard.check) -> Any:
    return HttpClient(Policy(timeout=3.0, attempts=1, guard=check, cross_origin=True)).send(Request(address))


@pytest.mark.parametrize("form", PRIVATE_FORMS)
def test_connection_to_a_private_address_is_refused(form: str, site: Any) -> None:
    site.page("*", "secret")
    with pytest.raises(PrivateAddressError):
        get(f"http://{form.format(port=site.port)}/")
    assert not site.requests


@pytest.mark.parametrize("address", PUBLIC)
def test_public_address_is_allowed(address: str) -> None:
    guard.check("example.org", [address])


@pytest.mark.parametrize("addresses", [[], [""], ["no address"], ["8.8.8.8", "127.0.0.1"], ["fe80::1%eth0", "8.8.8.8"]])
def test_one_private_address_among_several_is_refused(addresses: list[str]) -> None:
    with pytest.raises(PrivateAddressError):
        guard.check("example.org", addresses)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_to_a_private_address_is_refused(status: int, site: Any, make_site: Callable[[], Any]) -> None:
    inner = make_site()
    inner.page("/secret", "secret")
    start = site.page("/", "", status=status, Location=f"http://127.0.0.1:{inner.port}/secret")

    def only_the_first(host: str, addresses: list[str]) -> None:
        if site.requests:
            guard.check(host, addresses)

    with pytest.raises(PrivateAddressError):
        get(start, only_the_first)
    assert not inner.requests


class Names:
    """A name server that gives another answer each time, and sockets that only note where they would go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> None:
        self.answers, self.lookups, self.connected = list(answers), 0, []
        names = self

        class Noting(socket.socket):
            def connect_ex(self, address: Any) -> int:
                names.connected.append(address[0])
                return errno.ECONNREFUSED

        monkeypatch.setattr(socket, "getaddrinfo", self.look_up)
        monkeypatch.setattr(socket, "socket", Noting)

    def look_up(self, host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        self.lookups += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        family = {False: socket.AF_INET, True: socket.AF_INET6}
        return [(family[":" in ip], socket.SOCK_STREAM, 6, "", (ip, port or 0)) for ip in answer]


def test_rebinding_name_is_resolved_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = Names(monkeypatch, ["93.184.215.14", "1.1.1.1"], ["127.0.0.1"])
    with pytest.raises(ProviderError) as caught:
        get("http://rebind.example/")
    assert caught.value.code == "UNREACHABLE"
    assert names.lookups == 1
    assert names.connected == ["93.184.215.14", "1.1.1.1"]


@pytest.mark.parametrize("answer", [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["10.0.0.1", "8.8.8.8"]])
def test_name_with_a_private_address_is_not_connected_to(answer: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names(monkeypatch, answer)
    with pytest.raises(PrivateAddressError):
        get("http://sly.example/")
    assert not names.connected


def test_private_address_can_be_allowed() -> None:
    watch = guard.AddressGuard(allow_private=True)
    watch("nas", ["192.168.1.7"])
    assert (watch.public, watch.private) == (False, True)
    watch("example.org", ["8.8.8.8"])
    assert watch.public


def test_private_address_is_recorded_and_refused() -> None:
    watch = guard.AddressGuard()
    with pytest.raises(PrivateAddressError):
        watch("nas", ["192.168.1.7"])
    assert (watch.public, watch.private) == (False, True)


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("nas", True),
        ("printer.local", True),
        ("wiki.corp", True),
        ("Router.LAN.", True),
        ("10.0.0.7", True),
        ("::1", True),
        ("8.8.8.8", False),
        ("example.org", False),
        ("local.example.org", False),
    ],
)
def test_local_names_are_recognised(host: str, local: bool) -> None:
    assert guard.is_local(host) == local


def notations(address: IPv4Address) -> list[str]:
    """Return an IPv4 address as it is and in three IPv6 notations."""
    high, low = divmod(int(address), 1 << 16)
    return [str(address), f"::ffff:{address}", f"64:ff9b::{high:x}:{low:x}", f"2002:{high:x}:{low:x}::1"]


@given(st.sampled_from(guard.PRIVATE_4).flatmap(lambda network: st.ip_addresses(v=4, network=network)))
def test_private_ipv4_address_is_refused_in_every_notation(address: Any) -> None:
    assert not any(guard.is_public(notation) for notation in notations(address))


@given(st.ip_addresses(v=4))
def test_notation_of_an_ipv4_address_does_not_matter(address: Any) -> None:
    assert len({guard.is_public(notation) for notation in notations(address)}) == 1


@given(st.ip_addresses())
def test_addresses_that_python_calls_private_are_never_public(address: Any) -> None:
    mapped = getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None)
    if guard.is_public(str(address)) and not mapped and address not in guard.NAT64:
        kinds = ("private", "loopback", "link_local", "multicast", "reserved", "unspecified")
        assert not [kind for kind in kinds if getattr(address, f"is_{kind}")]


@given(st.text(max_size=40))
def test_invalid_address_is_never_public(text: str) -> None:
    try:
        ip_address(text)
    except ValueError:
        assert not guard.is_public(text)


LOCAL_HOSTS = ("nas", "localhost.", "foo.localhost", "wiki.corp", "fritz.box", "nas.fritz.box", "ts.net.")


@pytest.mark.parametrize("host", [*LOCAL_HOSTS, "10.0.0.7", "0x7f.1", "[::1]"])
def test_private_hosts_are_refused_behind_a_proxy(host: str) -> None:
    with pytest.raises(PrivateAddressError):
        check_behind_proxy(host.strip("[]"), guard.check)
    watch = guard.AddressGuard(allow_private=True)
    check_behind_proxy(host.strip("[]"), watch)
    assert watch.private
    check_behind_proxy(host.strip("[]"), None)


def test_public_names_are_left_to_the_proxy() -> None:
    watch = guard.AddressGuard()
    check_behind_proxy("example.org", watch)
    assert (watch.public, watch.private) == (False, False)


def test_percent_signs_do_not_hide_a_host() -> None:
    with pytest.raises(BadRequestError):
        split_url("http://%31%32%37.0.0.1/")
