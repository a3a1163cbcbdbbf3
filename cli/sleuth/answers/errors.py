"""What keeps an answer from being written, beside the errors of models themselves."""

from sleuth.base.errors import SleuthError


class UnwrittenError(SleuthError):
    """No model can be asked, or the one that was asked wrote nothing."""

    code = "API_KEY_MISSING"
