// The programs of the README, as they are there: compiled strictly, and the first of them run against the real program, where
// the environment has its address and a token.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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

test("the programs of the README compile, and the first runs", { skip: !modules }, () => {
  const text = readFileSync(join(here, "../README.md"), "utf8");
  const programs = [...text.matchAll(/```ts\n\/\/ (\S+)\n([\s\S]*?)```/g)];
  assert.equal(programs.length, text.split("```ts\n").length - 1, "each program has its name in its first line");
  assert.ok(programs.length >= 3);
  mkdirSync(join(here, "readme"), { recursive: true });
  for (const [, name, program] of programs) writeFileSync(join(here, "readme", name), program);
  run(join(modules, ".bin/tsc"), ["--project", "readme.tsconfig.json", "--typeRoots", join(modules, "@types")]);
  if (!address) return;
  const printed = run(process.execPath, ["readme/first.js"], { API_URL: address, TOKEN });
  assert.match(printed, /^\d+ \d{4}-\d\d-\d\d\n/);
  assert.match(printed, /João 35\.00 http/);
});
