// The official TypeScript SDK, version 1: revisions with a session.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { args, command, headers, judge, url } from "./scenario.mjs";

const connect = (transport) => async (handler) => {
  const client = new Client({ name: "sdk-v1", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, handler);
  // The second argument of a call is the schema of its result.
  client.options = (options) => [undefined, options];
  await client.connect(transport());
  return client;
};

await judge({
  "stdio legacy": connect(() => new StdioClientTransport({ command, args })),
  "http legacy": connect(() => new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })),
});
