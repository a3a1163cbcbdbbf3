"""Reads web pages: guarded requests, fallback services, and the main text without menus and advertisements."""
