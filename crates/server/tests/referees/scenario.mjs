// What each TypeScript client does with deft. The result is compared with that of every other client.
// `connect(handler)` returns a connected client; the handler answers elicitations.
export async function scenario(connect) {
  const asked = [];
  const client = await connect((request) => {
    asked.push(request.params.message);
    return { action: "accept", content: { answer: "yes" } };
  });
  const call = (name, args, options) => client.callTool({ name, arguments: args }, ...options);
  const plain = (name, args) => call(name, args, client.options({}));

  const { tools } = await client.listTools();
  const listed = ["echo", "skill_run", "run_list"].every((name) => tools.some((tool) => tool.name === name));
  const said = await plain("echo", { text: "hi" });

  const progress = [];
  const onprogress = (it) => progress.push(it);
  client.onerror = (error) => late(error).forEach(onprogress);
  await call("skill_run", { skill: "three" }, client.options({ onprogress }));
  client.onerror = undefined;

  const stop = new AbortController();
  // The run is cancelled once its first step has ended, so that it is known to be under way.
  const slow = call("skill_run", { skill: "slow" }, client.options({ signal: stop.signal, onprogress: () => stop.abort() }));
  const cancelled = await slow.then(() => "answered", () => "rejected");

  const careful = await plain("skill_run", { skill: "careful" });
  const document = {
    listed,
    said: said.structuredContent.outputs.said,
    progress: progress.map((it) => [it.progress, it.total, it.message]),
    cancelled,
    outcome: await outcome(plain),
    asked,
    sent: careful.structuredContent.outputs.sent,
  };
  await client.close();
  return document;
}

// The SDK forgets a call as soon as it reads the reply, and handles notifications a moment after it has read them. Progress
// that arrives in one piece with the reply, as it does on a busy machine, comes too late by that, and is an error.
function late(error) {
  const [, notification] = error.message.split("progress notification for an unknown token: ");
  return notification ? [JSON.parse(notification).params] : [];
}

// The outcome of the newest run of `slow`. The server learns of a cancellation on its own time.
async function outcome(plain) {
  for (;;) {
    const { structuredContent } = await plain("run_list", { skill: "slow", limit: 1 });
    const run = structuredContent.runs[0];
    if (run.outcome) return run.outcome;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

// Where deft is: the test says so.
export const { DEFT: command, DEFT_FOLDER: home, DEFT_URL: url, DEFT_TOKEN: token } = process.env;
export const args = ["mcp", "serve", "--home", home];
export const headers = { Authorization: `Bearer ${token}` };

// Runs the scenario for each way to connect and prints the results by name.
export async function judge(ways) {
  const results = {};
  for (const [name, connect] of Object.entries(ways)) results[name] = await scenario(connect);
  console.log(JSON.stringify(results));
}
