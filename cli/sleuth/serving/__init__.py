"""Servers for other programs: MCP on stdio and HTTP."""
