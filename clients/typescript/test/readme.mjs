// The programs of the README, as they are there: compiled strictly, and run against the real program, where the environment
// has its address and a token.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const modules = [join(here, "../node_modules"), join(here, "../../../test/openapi/node_modules")].find((folder) =>
  existsSync(join(folder, ".bin/tsc")),
);
const { URL: address, TOKEN } = process.env;

function run(command, args, env = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: here, encoding: "utf8", env: { ...process.env, ...env } });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

test("the programs of the README compile and run", { skip: !modules }, async (t) => {
  const text = readFileSync(join(here, "../README.md"), "utf8");
  const programs = [...text.matchAll(/```ts\n\/\/ (\S+)\n([\s\S]*?)```/g)];
  assert.equal(programs.length, text.split("```ts\n").length - 1, "each program has its name in its first line");
  assert.ok(programs.length >= 3);
  mkdirSync(join(here, "readme"), { recursive: true });
  for (const [, name, program] of programs) writeFileSync(join(here, "readme", name), program);
  copyFileSync(join(here, "types.ts"), join(here, "readme/types.ts")); // a compiler of its own takes three seconds
  run(join(modules, ".bin/tsc"), ["--project", "readme.tsconfig.json", "--typeRoots", join(modules, "@types")]);
  if (!address) return;
  const printed = run(process.execPath, ["readme/first.js"], { API_URL: address, TOKEN });
  assert.match(printed, /^\d+ \d{4}-\d\d-\d\d\n/);
  assert.match(printed, /João 35\.00 http/);
  await feed(t);
  await hook(t);
});

/** Starts a program of the README, which runs until the test ends; what it printed comes by the function returned. */
function start(t, name, env) {
  rmSync(join(here, "place"), { force: true });
  const child = spawn(process.execPath, [join("readme", name)], { cwd: here, env: { ...process.env, ...env } });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (printed += chunk));
  t.after(() => {
    child.kill();
    rmSync(join(here, "place"), { force: true });
  });
  return () => printed;
}

/** The reader begins at the newest event of the moment at which it first asks: payments are made until it has seen one. */
async function feed(t) {
  const printed = start(t, "feed.js", { API_URL: address, TOKEN });
  for (let tries = 0; !printed().includes("João paid 35.00"); tries++) {
    assert.ok(tries < 50, `the feed printed ${printed()}`);
    run(process.execPath, ["readme/first.js"], { API_URL: address, TOKEN });
    await new Promise((done) => setTimeout(done, 200));
  }
}

async function hook(t) {
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address();
  await new Promise((done) => free.close(done));
  const printed = start(t, "hook.js", { PORT: String(port), WEBHOOK_SECRET: "whsec_1" });
  const body = JSON.stringify({ event: "ping", id: "evt_1" });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const send = async (secret) => {
    const signature = `sha256=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
    const headers = { "x-service-timestamp": timestamp, "x-service-signature": signature };
    for (let tries = 0; ; tries++) {
      try {
        return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, headers })).status;
      } catch (error) {
        assert.ok(tries < 100, `${error}: ${printed()}`); // it is still starting
        await new Promise((done) => setTimeout(done, 100));
      }
    }
  };
  assert.deepEqual([await send("whsec_1"), await send("whsec_2")], [204, 401]);
  assert.match(printed(), /^ping evt_1\n/);
}
