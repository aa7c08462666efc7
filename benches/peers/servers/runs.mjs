// Express over SQLite with stored runs, and `ws` with a feed of events: `node runs.mjs PORT DATABASE EVENTS_PER_SECOND`.
import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";
import express from "express";
import { WebSocketServer } from "ws";

const [port, database, rate] = process.argv.slice(2);
const store = new DatabaseSync(database, { readOnly: true });
const newest = store.prepare("SELECT * FROM run ORDER BY number DESC LIMIT ?");

const app = express();
app.get("/api/v1/runs", (request, response) => response.json({ runs: newest.all(Number(request.query.limit)) }));

const server = createServer(app);
const feed = new WebSocketServer({ server, path: "/ws" });
let seq = 0;
const INTERVAL = 20;
setInterval(() => {
  for (let event = 0; event < (Number(rate) * INTERVAL) / 1000; event += 1) {
    seq += 1;
    const text = JSON.stringify({ type: "step_completed", seq, at: new Date().toISOString(), skill: "one", step: "now" });
    for (const client of feed.clients) client.send(text);
  }
}, INTERVAL);
server.listen(Number(port), "127.0.0.1");
