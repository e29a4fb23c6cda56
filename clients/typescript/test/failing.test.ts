/** A server that fails in any way: no call runs, and what may be sent again is. */

import assert from "node:assert/strict";
import { type ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, test } from "node:test";
import { NotRun, Refused } from "../src/index.js";
import { type Body, Judge, allow, recorder, send } from "./judge.js";

let judge: Judge;
beforeEach(async () => {
  judge = await Judge.start();
});
afterEach(() => judge.stop());

type Failure = (event: Body) => (response: ServerResponse) => void;

const error = (code: string) => ({ error: { code, message: `because of ${code}`, request_id: "1" } });
const status =
  (code: number, body?: (event: Body) => unknown): Failure =>
  (event) =>
  (response) =>
    send(response, code, body === undefined ? error(`code ${code}`) : body(event));
const answer = (change: Body): Failure => status(200, (event) => ({ ...allow(event), ...change }));

/** Ways to answer a call that are no yes. */
export const FAILURES: Record<string, Failure> = {
  "no connection": () => (response) => response.destroy(),
  "a broken body": (event) => (response) => {
    response.writeHead(200, { "Content-Length": "10000" });
    response.write(JSON.stringify(allow(event)));
    setImmediate(() => response.destroy());
  },
  "no answer": () => () => undefined,
  "201 with a yes": status(201, allow),
  "202 with a yes": status(202, allow),
  "204": status(204, () => ""),
  "400 with a yes": status(400, allow),
  "401": status(401),
  "403": status(403),
  "404": status(404),
  "408 with a yes": status(408, allow),
  "409": status(409),
  "410": status(410),
  "413": status(413),
  "422": status(422),
  "429": status(429),
  "500 with a yes": status(500, allow),
  "502": status(502, () => "<html>bad gateway</html>"),
  "503 with a yes": status(503, allow),
  "an empty body": status(200, () => ""),
  "half of a yes": status(200, (event) => JSON.stringify(allow(event)).slice(0, -1)),
  "a list": status(200, (event) => [allow(event)]),
  "a text": status(200, () => '"allow"'),
  null: status(200, () => "null"),
  "no decision": answer({ decision: undefined }),
  "another decision": answer({ decision: "ask" }),
  "a decision in capitals": answer({ decision: "ALLOW" }),
  "a decision that is true": answer({ decision: true }),
  "decisions in a list": answer({ decision: ["allow"] }),
  "a denial": answer({ decision: "deny" }),
  "the answer to another call": answer({ id: "other" }),
  "the answer to another event": answer({ event: "result" }),
  "no id": answer({ id: undefined }),
  "no input": answer({ input: undefined }),
  "input that is null": answer({ input: null }),
  "input that is a text": answer({ input: "{}" }),
  "input that is a list": answer({ input: [{}] }),
  "a number that JavaScript would change": status(200, (event) =>
    JSON.stringify(allow(event)).replace('"input":{}', '"input":{"account":9007199254740993}'),
  ),
};

for (const [name, failure] of Object.entries(FAILURES)) {
  test(`nothing runs after ${name}`, async () => {
    judge.opening = { deadline: name === "no answer" ? -4.8 : 2 };
    judge.say = (event) => (event["event"] === "call" ? { fail: failure(event) } : undefined);
    const { ran, tool } = recorder(() => "ran");
    const made = await judge.guard({ patience: 0.2 }).session("Go.", (run) => run.call("wipe", {}, tool));
    assert.ok(made instanceof NotRun);
    assert.notEqual(String(made), "");
    assert.deepEqual(ran, []);
  });

  test(`no answer, prompt or request goes on after ${name}`, async () => {
    if (name.includes("input") || name.includes("number")) return; // they have none
    judge.opening = { deadline: name === "no answer" ? -4.8 : 2 };
    const guard = judge.guard({ patience: 0.2 });
    await guard.session("Go.", async (run) => {
      judge.say = (event) => (event["event"] === "result" ? undefined : { fail: failure(event) });
      await assert.rejects(run.answer("Done."), Refused);
      await assert.rejects(run.messages([{ role: "user", content: "a" }]), Refused);
      await assert.rejects(run.reply({ text: "a" }), Refused);
      await assert.rejects(guard.open("Again."), Refused);
    });
  });
}

test("answers that allow without saying what let nothing go on", async () => {
  judge.say = (event) => ({ ...allow(event), text: 5, messages: "all", calls: [{ id: "c1" }], output: undefined });
  await assert.rejects(judge.guard().session("Go.", () => assert.fail("work began")), Refused);
  await judge.guard().session(undefined, async (run) => {
    await assert.rejects(run.answer("Done."), Refused);
    await assert.rejects(run.messages([]), Refused);
    await assert.rejects(run.reply({ text: "a" }), Refused);
    await assert.rejects(run.call("note", {}, () => "a"), Refused);
  });
});

const AGAIN: Record<string, Failure> = Object.fromEntries(
  ["no connection", "a broken body", "408 with a yes", "429", "500 with a yes", "503 with a yes"].map((name) => [name, FAILURES[name]!]),
);
AGAIN["429 with Retry-After"] = () => (response) => send(response, 429, error("too_many"), { "Retry-After": "0" });

for (const [name, failure] of Object.entries(AGAIN)) {
  test(`the same is sent again after ${name}`, async () => {
    let failures = 2;
    judge.say = (event) => {
      if (event["event"] !== "call") return undefined;
      failures -= 1;
      if (failures >= 0) return { fail: failure(event) };
      return { fail: (response) => send(response, 200, allow(event), { "Idempotency-Replayed": "true" }) };
    };
    const { ran, tool } = recorder(() => "ran");
    assert.equal(await judge.guard({ patience: 10 }).session("Go.", (run) => run.call("wipe", { n: 1 }, tool)), "ran");
    assert.deepEqual(ran, [{ n: 1 }]);
    const calls = judge.of("call");
    assert.equal(calls.length, 3);
    assert.deepEqual(calls, [calls[0], calls[0], calls[0]]);
  });
}

test("what is refused for good is not sent again", async () => {
  judge.say = (event) => (event["event"] === "call" ? { fail: FAILURES["409"]!(event) } : undefined);
  const made = await judge.guard({ patience: 10 }).session("Go.", (run) => run.call("wipe", {}, () => "ran"));
  assert.match(String(made), /because of code 409/);
  assert.equal(judge.of("call").length, 1);
});

test("a server that says to come back in an hour is not waited for", async () => {
  judge.say = (event) =>
    event["event"] === "call"
      ? { fail: (response) => send(response, 503, error("busy"), { "Retry-After": "3600" }) }
      : undefined;
  const made = await judge.guard().session("Go.", (run) => run.call("wipe", {}, () => "ran"));
  assert.match(String(made), /because of busy/);
});

test("a call that may have been allowed and did not run is reported as such", async () => {
  judge.say = (event) => (event["event"] === "call" ? { fail: FAILURES["half of a yes"]!(event) } : undefined);
  await judge.guard().session("Go.", (run) => run.call("wipe", {}, () => "ran", { id: "c1" }));
  const [told] = judge.of("result");
  assert.equal(told?.["call"], "c1");
  assert.match(String(told?.["not_run"]), /cannot be read/);
});

test("a server that is gone in the middle allows nothing more", async () => {
  const { ran, tool } = recorder(() => "ran");
  await judge.guard().session("Go.", async (run) => {
    assert.equal(await run.call("wipe", { n: 1 }, tool), "ran");
    await judge.stop();
    assert.match(String(await run.call("wipe", { n: 2 }, tool)), /did not answer/);
    await assert.rejects(run.answer("Done."), Refused);
  });
  assert.deepEqual(ran, [{ n: 1 }]);
});

test("a server that was gone for long is asked once only, until it answers again", async () => {
  let attempts = 0;
  judge.say = (event) => {
    if (event["event"] !== "call") return undefined;
    attempts += 1;
    return event["tool"] === "back" ? undefined : { fail: (response) => response.destroy() };
  };
  await judge.guard({ patience: 0.7 }).session("Go.", async (run) => {
    await run.call("gone", {}, () => "ran");
    const first = attempts;
    assert.ok(first > 1);
    await run.call("gone", {}, () => "ran");
    assert.equal(attempts, first + 1);
    assert.equal(await run.call("back", {}, () => "ran"), "ran");
    await run.call("gone", {}, () => "ran");
    assert.ok(attempts > first + 3);
  });
});

test("a renewal that nobody answers takes no patience from a call", async () => {
  judge.opening = { lease: 0.06 };
  judge.renew = (response) => response.destroy();
  let failures = 1;
  judge.say = (event) =>
    event["event"] === "call" && (failures -= 1) >= 0 ? { fail: (response) => response.destroy() } : undefined;
  await judge.guard({ patience: 5 }).session("Go.", async (run) => {
    while (judge.renewals.length < 2) await pause(5);
    await pause(20);
    assert.equal(await run.call("note", {}, () => "ran"), "ran");
  });
});

test("without a server there is no session", async () => {
  const guard = judge.guard();
  await judge.stop();
  await assert.rejects(guard.session("Go.", () => assert.fail("work began")), /did not answer/);
  judge = await Judge.start();
});

test("a poll that fails for good is a no", async () => {
  judge.say = (event) => (event["event"] === "call" ? { decision: "pending" } : undefined);
  for (const name of ["404", "410", "half of a yes", "201 with a yes", "the answer to another call", "input that is a list"]) {
    judge.poll = (event) => ({ fail: FAILURES[name]!(event) });
    const { ran, tool } = recorder(() => "ran");
    const made = await judge.guard().session("Go.", (run) => run.call("wipe", {}, tool));
    assert.ok(made instanceof NotRun, name);
    assert.deepEqual(ran, []);
  }
});
