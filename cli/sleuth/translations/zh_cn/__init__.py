"""Simplified Chinese, in files by area."""

from sleuth.translations.zh_cn import (
    details,
    doctor_deployment,
    doctor_installation,
    doctor_search,
    doctor_server,
    doctor_settings,
    general,
    library,
    pages,
    providers,
    settings,
)

MESSAGES: dict[str, str] = {
    **doctor_deployment.MESSAGES,
    **doctor_installation.MESSAGES,
    **doctor_search.MESSAGES,
    **doctor_server.MESSAGES,
    **doctor_settings.MESSAGES,
    **general.MESSAGES,
    **library.MESSAGES,
    **pages.MESSAGES,
    **providers.MESSAGES,
    **settings.MESSAGES,
}
DETAILS: dict[str, str] = details.MESSAGES
