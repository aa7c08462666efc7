"""FastMCP with one tool, over streamable HTTP with sessions: `tools.py PORT`."""

import sys

from fastmcp import FastMCP

server = FastMCP("peer")


@server.tool
def greet(who: str) -> str:
    """Greet a person"""
    return f"Hello, {who}"


server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="ERROR")
