// Uses the tools as the client does that the authors of the Model Context Protocol wrote, over both transports: it refuses
// a list and answers that are not as the protocol or the tool's own schema has them.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Ajv, addFormats } from "@modelcontextprotocol/client/validators/ajv";

const { URL: address, TOKEN, PROGRAM } = process.env;
const headers = { Authorization: `Bearer ${TOKEN}` };
const transports = {
  http: new StreamableHTTPClientTransport(new URL("/mcp", address), { requestInit: { headers } }),
  stdio: new StdioClientTransport({ command: PROGRAM, args: ["mcp"], env: { CARTEIRA_API_TOKEN: TOKEN, CARTEIRA_API_URL: address } }),
};
// One after the other, and schemas once nothing waits: compiling them holds up all else for seconds, and a request that is
// under way then would count as lost on a machine that has other work.
const lists = [];
for (const [name, transport] of Object.entries(transports)) lists.push(await use(name, transport));
assert.deepEqual(...lists);
for (const { inputSchema, outputSchema = {} } of lists[0]) [inputSchema, outputSchema].forEach(wantUsable);

async function use(name, transport) {
  const client = new Client({ name: "carteira-test", version: "1.0.0" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.ok(tools.length >= 39, `${tools.length} tools over ${name}`);
  const call = { name: "createCustomer", arguments: { name: `Ana ${name}`, plan_id: 1 } };
  const { isError, content, structuredContent } = await client.callTool(call);
  assert.ok(!isError, JSON.stringify(content));
  assert.equal(structuredContent.data.name, `Ana ${name}`);
  const prompt = await client.getPrompt({ name: "cobrar-cliente", arguments: { cliente: "Ana" } });
  assert.match(JSON.stringify(prompt), /o cliente Ana /);
  await client.close();
  return tools;
}

/** Wants no keyword or format that a strict reader does not know, and no bare true or false for a schema. */
function wantUsable(schema) {
  const ajv = new Ajv({ strict: true });
  addFormats(ajv);
  ajv.compile(schema);
  JSON.stringify(schema, (key, value) => {
    assert.ok(typeof value !== "boolean" || ["additionalProperties", "default"].includes(key), `${key} is ${value}`);
    return value;
  });
}
