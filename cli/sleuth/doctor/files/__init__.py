"""Checks of a SearXNG deployment's files, and the files of a new one."""
