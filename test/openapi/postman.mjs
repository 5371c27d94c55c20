// Makes a Postman collection from the document, and has newman run it against a live server: every operation once, with
// the examples of the document. An answer must be one that the document describes, and never a failure of the server.
import { readFileSync, writeFileSync } from "node:fs";
import converter from "openapi-to-postmanv2";
import newman from "newman";

const { BASE, TOKEN } = process.env;
const document = readFileSync("../../openapi/openapi.yaml", "utf8");
const options = {
  folderStrategy: "Tags", requestNameSource: "Fallback", enableOptionalParameters: false,
  parametersResolution: "Example", requestParametersResolution: "Example", exampleParametersResolution: "Example",
};

const result = await new Promise((done, fail) =>
  converter.convert({ type: "string", data: document }, options, (error, made) => (error || !made.result ? fail(error ?? made.reason) : done(made))),
);
const collection = result.output[0].data;

// Postman asks its user for two things: where the installation is, and a token.
collection.variable = [{ key: "baseUrl", value: BASE }, { key: "bearerToken", value: TOKEN }];
collection.auth = { type: "bearer", bearer: [{ key: "token", value: "{{bearerToken}}", type: "string" }] };
collection.event = [{
  listen: "test",
  script: { exec: [
    'pm.test("is answered as documented", () => {',
    "  pm.expect(pm.response.code).to.be.oneOf([200, 403, 404, 409, 422]);",
    '  pm.expect(pm.response.json()).to.have.property("success", pm.response.code === 200);',
    '  pm.expect(pm.response.headers.get("X-Request-Id")).to.be.a("string");',
    "});",
  ] },
}];

// What deletes comes last, so that the others find something, and a part before the whole.
const requests = [];
const collect = (items) => items.forEach((item) => (item.item ? collect(item.item) : requests.push(item)));
collect(collection.item);
const order = (item) => (item.request.method === "DELETE" ? 1 : 0);
const depth = (item) => order(item) * item.request.url.path.length;
collection.item = requests.sort((a, b) => order(a) - order(b) || depth(b) - depth(a));
collection.item.forEach((item) => { item.response = []; delete item.request.auth; });
writeFileSync("gen/postman.json", JSON.stringify(collection, null, 2));

const summary = await new Promise((done, fail) =>
  newman.run({ collection, reporters: ["cli"], reporter: { cli: { noBanner: true, noSuccessAssertions: true } } }, (error, s) => (error ? fail(error) : done(s))),
);
const served = summary.run.executions.filter((e) => e.response?.code === 200).length;
console.log(`newman: ${summary.run.executions.length} requests, ${served} answered with 200, ${summary.run.failures.length} failures`);
// A few examples speak of records that are not there, or not so any more; that is answered as documented, too.
const whole = summary.run.executions.length === Number(process.env.OPERATIONS) && served >= 0.9 * summary.run.executions.length;
if (summary.run.failures.length > 0 || !whole) process.exit(1);
