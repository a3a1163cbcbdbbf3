"""Headless Chromium and the proxy that guards it."""
