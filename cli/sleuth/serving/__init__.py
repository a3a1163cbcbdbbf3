"""sleuth for other programs: MCP on stdio, and HTTP on loopback."""
