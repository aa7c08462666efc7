"""The official Python SDK: both eras. Does what `scenario.mjs` does."""

import asyncio
import json
import os

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

HOME = os.environ["DEFT_FOLDER"]
STDIO = StdioServerParameters(command=os.environ["DEFT"], args=["mcp", "serve", "--home", HOME])
HEADERS = {"Authorization": f"Bearer {os.environ['DEFT_TOKEN']}"}


def http():
    return streamable_http_client(os.environ["DEFT_URL"], http_client=httpx2.AsyncClient(headers=HEADERS, timeout=30))


async def outcome(client):
    """The outcome of the newest run of `slow`. The server learns of a cancellation on its own time."""
    while True:
        listed = await client.call_tool("run_list", {"skill": "slow", "limit": 1})
        if found := listed.structured_content["runs"][0].get("outcome"):
            return found
        await anyio.sleep(0.02)


async def cancel_slow(client):
    """Cancels the run once its first step has ended, so that it is known to be under way."""
    with anyio.CancelScope() as scope:

        async def stop(*_):
            scope.cancel()

        await client.call_tool("skill_run", {"skill": "slow"}, progress_callback=stop)
    return "rejected" if scope.cancelled_caught else "answered"


async def scenario(server, mode):
    asked, progress = [], []

    async def answer(_, request):
        asked.append(request.message)
        return ElicitResult(action="accept", content={"answer": "yes"})

    async def note(done, total, message):
        progress.append([done, total, message])

    async with Client(server, mode=mode, elicitation_callback=answer) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        said = await client.call_tool("echo", {"text": "hi"})
        await client.call_tool("skill_run", {"skill": "three"}, progress_callback=note)
        cancelled = await cancel_slow(client)
        careful = await client.call_tool("skill_run", {"skill": "careful"})
        return {
            "listed": {"echo", "skill_run", "run_list"} <= names,
            "said": said.structured_content["outputs"]["said"],
            "progress": progress,
            "cancelled": cancelled,
            "outcome": await outcome(client),
            "asked": asked,
            "sent": careful.structured_content["outputs"]["sent"],
        }


async def main():
    ways = {
        "stdio legacy": (lambda: STDIO, "legacy"),
        "stdio modern": (lambda: STDIO, "2026-07-28"),
        "http legacy": (http, "legacy"),
        "http modern": (http, "2026-07-28"),
    }
    results = {name: await scenario(server(), mode) for name, (server, mode) in ways.items()}
    print(json.dumps(results))


asyncio.run(main())
