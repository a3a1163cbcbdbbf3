"""The user's contact address, for the few services that ask programs for one."""

from sleuth_providers.base import Account


def contact_headers(account: Account) -> dict[str, str]:
    """Return a user agent with the contact address; none if the user has not set one."""
    return {"User-Agent": f"sleuth (command-line web search; {account.contact})"} if account.contact else {}
