"""What replies cost in US dollars, estimated: the prices of known models, and those the settings name."""

import time

from sleuth.answers.llm.address import is_private
from sleuth.answers.llm.chat import Prompt, Usage
from sleuth.relevance.tokens import BYTES_PER_TOKEN
from sleuth_providers.records import Record

MILLION = 1_000_000
YUAN = 1 / 7.1  # US dollars, as it stood in autumn 2026
BEIJING = 8 * 3600  # seconds ahead of UTC, all year
PEAK_HOURS = (*range(9, 12), *range(14, 18))  # Monday to Friday
MESSAGE = 4  # tokens around a message


class Price(Record):
    """US dollars a million tokens."""

    input: float = 0.0
    output: float = 0.0
    cached: float | None = None  # input the server remembers; None: no cheaper
    peaks: bool = False  # twice as much when Beijing works

    def cost(self, usage: Usage, now: float | None = None) -> float:
        """Return what some tokens cost, now or at another moment."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        cheap = self.input if self.cached is None else self.cached
        cost = (usage.prompt_tokens - cached) * self.input + cached * cheap + usage.completion_tokens * self.output
        return cost / MILLION * (2 if self.peaks and _is_peak(time.time() if now is None else now) else 1)


FLASH = Price(1 * YUAN, 4 * YUAN, 0.02 * YUAN, peaks=True)
PRO = Price(4.5 * YUAN, 13.5 * YUAN, 0.15 * YUAN, peaks=True)
KNOWN = {"deepseek-flash": FLASH, "deepseek-v4-flash": FLASH, "deepseek-v4-pro": PRO}


def find_price(base: str, model: str, input: float | None = None, output: float | None = None) -> Price:
    """Return the price of a model: what the settings name, else what is known; nothing on machines of one's own."""
    known = Price() if is_private(base) else next((KNOWN[name] for name in KNOWN if model.startswith(name)), Price())
    if input is None and output is None:
        return known
    return Price(known.input if input is None else input, known.output if output is None else output)


def _is_peak(now: float) -> bool:
    there = time.gmtime(now + BEIJING)
    return there.tm_wday < 5 and there.tm_hour in PEAK_HOURS


def estimate(prompt: Prompt, size: int) -> Usage:
    """Return the tokens of a request and of a reply of so many bytes, guessed."""
    sent = sum(len(message.content.encode("utf-8", "replace")) for message in prompt.messages)
    read = round(sent / BYTES_PER_TOKEN) + MESSAGE * len(prompt.messages)
    return Usage(1, read, round(size / BYTES_PER_TOKEN), estimated=True)
