"""A provider in a package of its own: finds one page about anything."""

from sleuth_providers.base import Account, Found, Provider, Query, Request, Response, Result, base_url


class Echo(Provider):
    """Asks a server and repeats the question as a result."""

    id = "echo"
    name = "Echo"
    homepage = "https://echo.example/"
    host = "https://echo.example"
    host_env = ("ECHO_URL",)
    price = "free"

    def request(self, query: Query, account: Account) -> Request:
        """Ask /echo."""
        return Request(f"{base_url(account, self.host)}/echo", {"q": query.text})

    def parse(self, reply: Response, query: Query) -> Found:
        """Take the body as the title."""
        return Found((Result(reply.text(), f"https://echo.example/{query.text}"),))
