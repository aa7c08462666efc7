// Opens the page of deft as a browser would, and prints what it shows as JSON lines.
//
//   page.mjs URL...           each address is opened in turn, with the storage that the one before left;
//                             then the script presses the button "Sign out"
//   page.mjs --watch URL      the address is opened, and each line of the input lets the time pass after which
//                             the page asks again
import { createInterface } from "node:readline";
import { JSDOM } from "jsdom";

const TIMEOUT = 20_000;
let storage = {};
const replies = [];
let tick;

function open(url) {
  return JSDOM.fromURL(url, {
    runScripts: "dangerously",
    resources: "usable",
    beforeParse(window) {
      // jsdom has no fetch of its own.
      window.fetch = (path, options) => {
        const reply = fetch(new URL(path, window.location), options);
        replies.push(reply.catch(() => {}));
        return reply;
      };
      window.setInterval = (action) => (tick = action);
      for (const [key, value] of Object.entries(storage)) window.localStorage.setItem(key, value);
    },
  });
}

async function message(window, before) {
  const deadline = Date.now() + TIMEOUT;
  for (;;) {
    const text = window.document.getElementById("message").textContent;
    if (text !== before) return text;
    if (Date.now() > deadline) throw new Error(`the page still shows: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function report(window, text) {
  const labels = [...window.document.querySelectorAll("dt")].map((it) => it.textContent);
  const values = [...window.document.querySelectorAll("dd")].map((it) => it.textContent);
  const isHidden = (id) => window.document.getElementById(id).hidden;
  console.log(JSON.stringify({
    message: text,
    state: isHidden("state") ? null : Object.fromEntries(labels.map((label, at) => [label, values[at]])),
    address: window.location.href,
    form: !isHidden("sign-in"),
    reconnect: !isHidden("reconnect"),
    stored: window.localStorage.getItem("deft.token"),
    requests: replies.length,
  }));
}

async function watch(url) {
  const { window } = await open(url);
  report(window, await message(window, "Loading…"));
  for await (const _ of createInterface({ input: process.stdin })) {
    await tick();
    report(window, window.document.getElementById("message").textContent);
  }
  window.close();
}

if (process.argv[2] === "--watch") {
  await watch(process.argv[3]);
  process.exit();
}
let window;
for (const url of process.argv.slice(2)) {
  window?.close();
  ({ window } = await open(url));
  report(window, await message(window, "Loading…"));
  storage = { ...window.localStorage };
}
const shown = window.document.getElementById("message").textContent;
window.document.getElementById("sign-out").click();
report(window, await message(window, shown));
// Among them the one to the request that revokes the token.
await Promise.all(replies);
window.close();
