// Signs this browser in and shows the state of deft.
//
// The address from `deft open` has a code in its fragment, which is exchanged for a token. The token stays in
// the storage of this origin; unlike a cookie, it is not sent to other ports of the same host.

"use strict";

const KEY = "deft.token";
const INTERVAL = 5000;
const HELP = "Run `deft open` on the machine that deft runs on to sign this browser in.";

const element = (id) => document.getElementById(id);

let isConnected = true;

function show(message, isSignedIn) {
  element("message").textContent = message;
  element("state").hidden = !isSignedIn || !isConnected;
  element("reconnect").hidden = isConnected;
  element("sign-out").hidden = !isSignedIn;
  element("sign-in").hidden = isSignedIn;
}

function stored() {
  return JSON.parse(localStorage.getItem(KEY) ?? "null");
}

async function call(method, path, token) {
  const reply = await fetch(path, { method, headers: { Authorization: `Bearer ${token}` } });
  const value = await reply.json();
  if (!reply.ok) {
    const problem = new Error([value.detail, value.hint].filter(Boolean).join("; "));
    problem.status = reply.status;
    throw problem;
  }
  return value;
}

// Removes the code from the address first, so that it does not stay in the history.
function takeCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code) history.replaceState(null, "", location.pathname);
  return code;
}

// Uses the code also if this browser has a token: an unused code could sign in another browser.
async function signIn() {
  const code = takeCode();
  if (!code) return;
  const former = stored();
  const { name, token } = await call("POST", "/sign-in", code);
  localStorage.setItem(KEY, JSON.stringify({ name, token }));
  // Fails if it has expired or was revoked.
  await revoke(former).catch(() => {});
}

// A pasted token has no name here and stays valid.
async function revoke(known) {
  if (known?.name) await call("DELETE", `/api/v1/tokens/${known.name}`, known.token);
}

async function signOut() {
  const known = stored();
  localStorage.removeItem(KEY);
  show("Signed out.", false);
  await revoke(known);
}

function describe(status) {
  const next = status.next[0];
  const time = (at) => new Date(at).toLocaleString();
  return {
    Home: status.home,
    Skills: `${status.skills}, ${status.scheduled} with a schedule`,
    "Runs in progress": status.active_total,
    "Failed in the last day": status.failed_total,
    "Pending approvals": status.approvals.length,
    "Next run": next ? `${next.skill}, ${time(next.at)}` : "none",
  };
}

function list(rows) {
  const cell = (name, text) => Object.assign(document.createElement(name), { textContent: text });
  const cells = Object.entries(rows).flatMap(([label, text]) => [cell("dt", label), cell("dd", text)]);
  element("state").replaceChildren(...cells);
}

async function refresh() {
  const known = stored();
  if (!known) return show(HELP, false);
  try {
    list(describe(await call("GET", "/api/v1/status", known.token)));
    show(known.name ? `Signed in as ${known.name}.` : "Signed in.", true);
  } catch (problem) {
    if (problem.status === 401) {
      localStorage.removeItem(KEY);
      show(`This browser is no longer signed in. ${HELP}`, false);
    } else {
      // Another program could listen on the port now, and must not get the token without a request to do so.
      isConnected = problem.status !== undefined;
      show(isConnected ? `deft answered with an error: ${problem.message}` : "deft does not answer.", true);
    }
  }
}

async function reconnect() {
  isConnected = true;
  await refresh();
}

async function start() {
  try {
    await signIn();
  } catch (problem) {
    if (!stored()) return show(`Not signed in: ${problem.message}.`, false);
  }
  await refresh();
}

element("reconnect").addEventListener("click", reconnect);
element("sign-out").addEventListener("click", () => signOut().catch((problem) => show(problem.message, false)));
element("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  localStorage.setItem(KEY, JSON.stringify({ token: element("token").value.trim() }));
  element("token").value = "";
  refresh();
});
addEventListener("hashchange", start);
start();
setInterval(() => isConnected && stored() && refresh(), INTERVAL);
