"""Caches: disk, memory, Redis, and rendered output."""
