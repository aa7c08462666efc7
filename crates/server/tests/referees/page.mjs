// Opens the page of deft as a browser would, and prints what it shows as JSON lines.
//
//   page.mjs URL...     each address is opened in turn, with the storage that the one before left
//
// After the last page has shown its state, the script presses its button "Sign out".
import { JSDOM } from "jsdom";

const TIMEOUT = 20_000;
let storage = {};

function open(url) {
  return JSDOM.fromURL(url, {
    runScripts: "dangerously",
    resources: "usable",
    beforeParse(window) {
      // jsdom has no fetch of its own.
      window.fetch = (path, options) => fetch(new URL(path, window.location), options);
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
    stored: window.localStorage.getItem("deft.token"),
  }));
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
// Lets the request that revokes the token finish.
await new Promise((resolve) => setTimeout(resolve, 200));
window.close();
