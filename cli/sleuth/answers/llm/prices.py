"""Estimated cost of model calls in US dollars, from list prices or the settings."""

import time

from sleuth.answers.llm.chat import Prompt, Usage
from sleuth.relevance.tokens import BYTES_PER_TOKEN
from sleuth_providers.records import Record

USD_PER_CNY = 1 / 7.1  # autumn 2026
BEIJING_OFFSET_S = 8 * 3600  # no daylight saving time
PEAK_HOURS = (*range(9, 12), *range(14, 18))  # Monday to Friday, Beijing time
TOKENS_PER_MESSAGE = 4  # role and separators around each message


class Price(Record):
    """US dollars per million tokens."""

    input: float = 0.0
    output: float = 0.0
    cached: float | None = None  # input found in the server's cache; None: same as input
    peaks: bool = False  # doubled during peak hours

    def cost(self, usage: Usage, now: float | None = None) -> float:
        """Return the cost of a call made now, or at a given Unix time."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        cheap = self.input if self.cached is None else self.cached
        cost = (usage.prompt_tokens - cached) * self.input + cached * cheap + usage.completion_tokens * self.output
        return cost / 1_000_000 * (2 if self.peaks and _is_peak(time.time() if now is None else now) else 1)


FLASH = Price(1 * USD_PER_CNY, 4 * USD_PER_CNY, 0.02 * USD_PER_CNY, peaks=True)
PRO = Price(4.5 * USD_PER_CNY, 13.5 * USD_PER_CNY, 0.15 * USD_PER_CNY, peaks=True)
LIST_PRICES = {"deepseek-flash": FLASH, "deepseek-v4-flash": FLASH, "deepseek-v4-pro": PRO}


def find_price(model: str, input: float | None = None, output: float | None = None) -> Price:
    """Return the price from the settings, else the list price of a known model, else zero."""
    known = next((price for name, price in LIST_PRICES.items() if model.startswith(name)), Price())
    if input is None and output is None:
        return known
    return Price(known.input if input is None else input, known.output if output is None else output)


def _is_peak(now: float) -> bool:
    there = time.gmtime(now + BEIJING_OFFSET_S)
    return there.tm_wday < 5 and there.tm_hour in PEAK_HOURS


def estimate_usage(prompt: Prompt, reply_bytes: int) -> Usage:
    """Return a guess of the tokens used, for servers that report none."""
    sent = sum(len(message.content.encode("utf-8", "replace")) for message in prompt.messages)
    prompt_tokens = round(sent / BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE * len(prompt.messages)
    return Usage(1, prompt_tokens, round(reply_bytes / BYTES_PER_TOKEN), estimated=True)
