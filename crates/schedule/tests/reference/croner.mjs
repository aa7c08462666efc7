// Asks the npm package croner for fires.
//
// usage: node croner.mjs FOLDER < questions.json > answers.json
// FOLDER holds node_modules. A question is {zone, from, to, expr} with instants in seconds since
// 1970; an answer is {fires, offsets}: the fires later than `from` and not later than `to`, and what
// this host's zone data gives as offsets at both ends, in seconds, or {error}.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const { Cron } = createRequire(join(resolve(process.argv[2]), "x.js"))("croner");

const formats = new Map();

function offset(zone, second) {
  if (!formats.has(zone)) {
    const options = { timeZone: zone, timeZoneName: "longOffset" };
    formats.set(zone, new Intl.DateTimeFormat("en-US", options));
  }
  const parts = formats.get(zone).formatToParts(new Date(second * 1000));
  // `GMT-03:30`, or `GMT` alone.
  const name = parts.find((part) => part.type === "timeZoneName").value;
  const [, sign, hours, minutes] = /^GMT([+-])(\d+):(\d+)$/.exec(name) ?? ["", "+", 0, 0];
  return (sign === "-" ? -1 : 1) * (hours * 3600 + minutes * 60);
}

function answer({ zone, from, to, expr }) {
  try {
    const cron = new Cron(expr, { timezone: zone, paused: true });
    const fires = [];
    let at = new Date(from * 1000);
    // A search that stands still would never end.
    while (fires.length < 5000) {
      const next = cron.nextRun(at);
      if (next === null || next.getTime() > to * 1000) break;
      if (next <= at) return { error: "does not move on" };
      fires.push(next.getTime() / 1000);
      at = next;
    }
    return { fires, offsets: [offset(zone, from), offset(zone, to)] };
  } catch (problem) {
    return { error: String(problem.message ?? problem) };
  }
}

const questions = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(questions.map(answer)));
