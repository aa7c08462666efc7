// The official TypeScript SDK, version 2: both eras.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { args, command, headers, judge, url } from "./scenario.mjs";

const connect = (mode, transport) => async (handler) => {
  const capabilities = { elicitation: { form: {} } };
  const client = new Client({ name: "sdk-v2", version: "2" }, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler("elicitation/create", handler);
  client.options = (options) => [options];
  await client.connect(transport());
  return client;
};
const stdio = () => new StdioClientTransport({ command, args });
const http = () => new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
const modern = { pin: "2026-07-28" };

await judge({
  "stdio legacy": connect("legacy", stdio),
  "stdio modern": connect(modern, stdio),
  "http legacy": connect("legacy", http),
  "http modern": connect(modern, http),
});
