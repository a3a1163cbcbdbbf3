"""The guard against private addresses: pages are read from the public internet only.

The guard runs in the connect step (`net.connection`): it sees every address a name resolves to, and the connection
then goes to exactly those addresses, so neither unusual notations nor DNS rebinding get around it.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from sleuth_providers.errors import PrivateAddressError
from sleuth_providers.net.policy import Guard

# `ipaddress.is_global` differs between Python releases, so the ranges are listed here.
PRIVATE_4 = (
    "0.0.0.0/8",  # this network, this host
    "10.0.0.0/8",
    "100.64.0.0/10",  # carrier-grade NAT
    "127.0.0.0/8",
    "169.254.0.0/16",  # link-local, cloud metadata
    "172.16.0.0/12",
    "192.0.0.0/24",  # protocol assignments
    "192.0.2.0/24",  # documentation
    "192.88.99.0/24",  # 6to4 relays
    "192.168.0.0/16",
    "198.18.0.0/15",  # benchmarks
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/3",  # multicast, reserved, broadcast
)
PRIVATE_6 = (
    "2001::/23",  # protocol assignments, with Teredo, which embeds IPv4 addresses
    "2001:db8::/32",  # documentation
    "3fff::/20",  # documentation
)
PRIVATE: tuple[IPv4Network | IPv6Network, ...] = (*map(IPv4Network, PRIVATE_4), *map(IPv6Network, PRIVATE_6))
PUBLIC_6 = IPv6Network("2000::/3")
NAT64 = IPv6Network("64:ff9b::/96")
LOCAL_NAMES = (
    *("localhost", "localdomain", "local", "internal", "intranet", "lan", "home", "corp", "private"),
    *("arpa", "invalid", "onion", "svc", "test", "ts.net"),
    *("fritz.box", "mshome.net", "router.asus.com", "routerlogin.net", "speedport.ip", "tplinkwifi.net"),
)


def check(host: str, addresses: list[str]) -> None:
    """Raise PrivateAddressError unless all addresses of a host are public."""
    if not addresses or not all(is_public(address) for address in addresses):
        raise PrivateAddressError(host=host)


def is_public(address: str) -> bool:
    """Tell whether an IP address, as a resolver returns it, is on the public internet."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        if found.scope_id is not None:
            return False
        inner = _embedded(found)
        if inner is None and found not in PUBLIC_6:
            return False
        found = inner or found
    return not any(found in network for network in PRIVATE)


def is_local(host: str) -> bool:
    """Tell whether a host name belongs to a private network: `nas`, `wiki.corp`, `10.0.0.7`."""
    name = host.lower().rstrip(".")
    try:
        ip_address(name)
    except ValueError:
        return "." not in name or f".{name}".endswith(tuple(f".{ending}" for ending in LOCAL_NAMES))
    return not is_public(name)


def _embedded(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that is embedded in an IPv6 address, if any."""
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


class AddressGuard:
    """A guard that remembers whether it saw public or private addresses."""

    def __init__(self, inner: Guard = check, allow_private: bool = False) -> None:
        self.inner, self.allow_private = inner, allow_private
        self.public = self.private = False

    def __call__(self, host: str, addresses: list[str]) -> None:
        """Apply the inner guard; with `allow_private` only record what it refuses."""
        try:
            self.inner(host, addresses)
            self.public = True
        except PrivateAddressError:
            self.private = True
            if not self.allow_private:
                raise
