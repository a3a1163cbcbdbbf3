"""Checks of this installation."""
