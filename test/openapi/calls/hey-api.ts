// Calls a live server with the client that hey-api generates.
import { client } from "../gen/hey/client.gen.js";
import { createCustomer, deleteCustomer, getCustomer, listCustomers } from "../gen/hey/sdk.gen.js";
import type { NewCustomer } from "../gen/hey/types.gen.js";

const { BASE, TOKEN } = process.env;
client.setConfig({ baseUrl: BASE!, auth: () => TOKEN! });

const draft: NewCustomer = { name: "Maria", email: "maria@example.com", plan_id: 1 };
// @ts-expect-error name is required
const nameless: NewCustomer = { email: "maria@example.com" };
void nameless;

const made = await createCustomer({ body: draft });
if (!made.data) throw new Error(JSON.stringify(made.error));
const id = made.data.data.id;
const read = await getCustomer({ path: { id } });
if (read.data?.data.email !== "maria@example.com") throw new Error(JSON.stringify(read));
const found = await listCustomers({ query: { search: "maria" } });
if (found.data?.meta.total !== 1) throw new Error(JSON.stringify(found));
const gone = await deleteCustomer({ path: { id } });
if (gone.response?.status !== 200) throw new Error(JSON.stringify(gone));
console.log("hey-api", id);
