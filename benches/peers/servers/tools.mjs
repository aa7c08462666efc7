// The TypeScript SDK's server with one tool, over streamable HTTP with sessions: `node tools.mjs PORT`.
import { randomUUID } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import express from "express";
import { z } from "zod";

const sessions = new Map();

async function open() {
  const server = new McpServer({ name: "peer", version: "1" });
  const schema = { description: "Greet a person", inputSchema: { who: z.string() } };
  server.registerTool("greet", schema, async ({ who }) => ({ content: [{ type: "text", text: `Hello, ${who}` }] }));
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  await server.connect(transport);
  return transport;
}

const app = express();
app.use(express.json());
app.post("/mcp", async (request, response) => {
  const transport = sessions.get(request.headers["mcp-session-id"]) ?? (await open());
  await transport.handleRequest(request, response, request.body);
});
app.listen(Number(process.argv[2]), "127.0.0.1");
