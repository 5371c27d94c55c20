// Calls a live server with the types that openapi-typescript generates.
import createClient from "openapi-fetch";
import type { paths, components } from "../gen/types.js";

const { BASE, TOKEN } = process.env;
const api = createClient<paths>({ baseUrl: BASE!, headers: { Authorization: `Bearer ${TOKEN}` } });

const draft: components["schemas"]["NewCustomer"] = { name: "João", whatsapp: "(11) 98765-4321", plan_id: 1 };
// @ts-expect-error name is required
const nameless: components["schemas"]["NewCustomer"] = { whatsapp: "(11) 98765-4321" };
// @ts-expect-error plan_id has one type
const text: components["schemas"]["NewCustomer"] = { name: "João", plan_id: "1" };
void nameless, text;

const made = await api.POST("/customers", { body: draft });
if (!made.data) throw new Error(JSON.stringify(made.error));
const read = await api.GET("/customers/{id}", { params: { path: { id: made.data.data.id } } });
const due: string | null | undefined = read.data?.data.data_de_vencimento;
if (!due || read.data?.data.plan?.name !== "Mensal") throw new Error(JSON.stringify(read));
const list = await api.GET("/invoices", { params: { query: { status: "em aberto", per_page: 10 } } });
if (!list.data || list.data.meta.total < 1 || typeof list.data.data[0]?.total_amount !== "string") throw new Error(JSON.stringify(list));
const refused = await api.POST("/customers", { body: { name: "" } });
if (refused.response.status !== 422 || !refused.error) throw new Error("a customer without a name was made");
console.log("openapi-typescript", made.data.data.id);
