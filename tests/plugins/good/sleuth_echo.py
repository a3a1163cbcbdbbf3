"""A provider in a separate package, which returns one result."""

from sleuth_providers.base import Account, Found, Provider, Query, Request, Response, Result


class Echo(Provider):
    """Returns the response of a server as a result."""

    id = "echo"
    name = "Echo"
    homepage = "https://echo.example/"
    host = "https://echo.example"
    host_env = ("ECHO_URL",)
    price = "free"

    def request(self, query: Query, account: Account) -> Request:
        """Request /echo."""
        return Request(f"{self.base_url(account)}/echo", {"q": query.text})

    def parse(self, response: Response, query: Query) -> Found:
        """Use the body as the title."""
        return Found((Result(response.text(), f"https://echo.example/{query.text}"),))
