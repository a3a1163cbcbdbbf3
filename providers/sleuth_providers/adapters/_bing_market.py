"""Bing's parameters for language and region; without them it uses the location of the IP address."""

from sleuth_providers.base import Query


def market(query: Query) -> tuple[dict[str, str], dict[str, str]]:
    """Return the parameters and the headers for the language and region of a query."""
    lang, _, territory = query.lang.partition("-")
    country = query.region or territory
    if lang and country:
        return {"mkt": f"{lang}-{country}"}, {"Accept-Language": f"{lang}-{country},{lang};q=0.9"}
    return ({"setlang": lang} if lang else {"cc": country} if country else {}), {}
