// The TypeScript SDK's server with one tool, over standard streams: what deft and a peer pass calls on to.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "upstream", version: "1" });
const schema = { description: "Greet a person", inputSchema: { who: z.string() } };
server.registerTool("greet", schema, async ({ who }) => ({ content: [{ type: "text", text: `Hello, ${who}` }] }));
await server.connect(new StdioServerTransport());
