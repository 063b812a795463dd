// Uses micropub-helper against a running server and prints, as one JSON object, what came of it.
//
//   VERNIER_URL=http://... node run.js auth-url          the address where its author signs in and consents
//   VERNIER_URL=http://... CODE=... node run.js          with the code that the author came back with
//   VERNIER_URL=http://... TOKEN=... node run.js         with a token that was made otherwise
"use strict";

const Micropub = require("micropub-helper");

const site = process.env.VERNIER_URL;
const client = new Micropub({
  clientId: process.env.CLIENT_ID || "http://127.0.0.1/",
  redirectUri: process.env.REDIRECT_URI || "http://127.0.0.1/callback",
  me: `${site}/`,
  state: "state",
  scope: "create update delete undelete",
  token: process.env.TOKEN || "",
  micropubEndpoint: `${site}/micropub`,
});

async function signIn() {
  if (!client.options.token) {
    await client.getEndpointsFromUrl(client.options.me);
    await client.getToken(process.env.CODE);
  }
  return client.verifyToken();
}

async function post() {
  const done = { verified: await signIn() };
  done.config = await client.query("config");
  done.byForm = await client.create({ h: "entry", content: "By a form", category: ["a", "b"] }, "form");
  done.url = await client.create({ type: ["h-entry"], properties: { content: ["Created"], category: ["test"] } });
  done.updated = await client.update(done.url, { replace: { content: ["Updated"] }, add: { category: ["more"] } });
  done.source = await client.querySource(done.url, ["content", "category"]);
  done.deleted = await client.delete(done.url);
  done.whileDeleted = await client.querySource(done.url, ["deleted"]);
  done.undeleted = await client.undelete(done.url);
  done.refused = await client.delete(`${site}/2000/01/unknown`).catch((error) => error.status);
  return done;
}

const command = process.argv[2] === "auth-url" ? client.getAuthUrl() : post();
command.then(
  (result) => console.log(JSON.stringify(result)),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
