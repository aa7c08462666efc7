"""FastMCP as a proxy of another server, over streamable HTTP: `relay.py PORT COMMAND ARGUMENT...`."""

import sys

from fastmcp.server.server import create_proxy

upstream = {"mcpServers": {"up": {"command": sys.argv[2], "args": sys.argv[3:]}}}
server = create_proxy(upstream, name="proxy")
server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="ERROR")
