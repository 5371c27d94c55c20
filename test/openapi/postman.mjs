// Has newman run the collection that the installation serves, as it is, with newman's default options: every operation once,
// with the examples of the document. An answer must be one that the document describes, and never a failure of the server; the
// collection waits and repeats by itself what the limit of calls refuses.
import { writeFileSync } from "node:fs";
import newman from "newman";

const { BASE, TOKEN } = process.env;
const collection = await (await fetch(new URL("/postman.json", BASE))).json();
writeFileSync("gen/postman.json", JSON.stringify(collection, null, 2));

const summary = await new Promise((done, fail) =>
  newman.run(
    { collection, envVar: [{ key: "token", value: TOKEN }], reporters: ["cli"] },
    (error, s) => (error ? fail(error) : done(s)),
  ),
);
const answered = summary.run.executions.filter((e) => e.response?.code !== 429);
const refused = answered.filter((e) => e.response?.code !== 200);
for (const { item, response } of refused) console.log(`${item.name}: ${response?.code} ${response?.stream}`);
console.log(`newman: ${answered.length} requests, ${refused.length} refused, ${summary.run.failures.length} failures`);
if (summary.run.failures.length > 0 || answered.length !== Number(process.env.OPERATIONS)) process.exit(1);
