"""Starlette over SQLite with stored runs: `runs.py PORT DATABASE`."""

import sqlite3
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

store = sqlite3.connect(f"file:{sys.argv[2]}?mode=ro", uri=True)
store.row_factory = sqlite3.Row


async def runs(request):
    limit = int(request.query_params["limit"])
    rows = store.execute("SELECT * FROM run ORDER BY number DESC LIMIT ?", (limit,)).fetchall()
    return JSONResponse({"runs": [dict(row) for row in rows]})


app = Starlette(routes=[Route("/api/v1/runs", runs)])
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
