/** Calls: what runs, with what, and what is told of it. */

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, test } from "node:test";
import { NotRun, Refused, currentRun } from "../src/index.js";
import { type Body, Judge, deny, recorder } from "./judge.js";

let judge: Judge;
beforeEach(async () => {
  judge = await Judge.start();
});
afterEach(() => judge.stop());

test("a call that is allowed runs with the input of the answer, and its result is reported", async () => {
  judge.say = (event) => (event["event"] === "call" ? { input: { text: "oat milk" }, changed: true } : undefined);
  const { ran, tool } = recorder(({ text }) => `noted ${text}`);
  const made = await judge.guard().session("Buy milk.", (run) => run.call("note", { text: "milk" }, tool, { id: "c1" }));
  assert.deepEqual(ran, [{ text: "oat milk" }]);
  assert.equal(made, "noted oat milk");
  const [call] = judge.of("call");
  assert.deepEqual(call, { event: "call", id: "c1", tool: "note", input: { text: "milk" }, wait: 0 });
  const [result] = judge.of("result");
  assert.deepEqual([result?.["call"], result?.["output"]], ["c1", "noted oat milk"]);
  assert.deepEqual(judge.ends, [{ reason: "complete" }]);
});

test("a call that is denied does not run and returns the reason for the model", async () => {
  judge.say = deny("wipe");
  const { ran, tool } = recorder(() => "wiped");
  const made = await judge.guard().session("Go.", (run) => run.call("wipe", { path: "/" }, tool));
  assert.ok(made instanceof NotRun);
  assert.equal(String(made), "not on my machine");
  assert.equal(JSON.stringify({ content: made }), '{"content":"not on my machine"}');
  assert.equal(made.hook, "policy");
  assert.deepEqual(ran, []);
  assert.deepEqual(judge.of("result"), []);
});

test("arguments may be the JSON text of a model; what is none does not run", async () => {
  const { ran, tool } = recorder(() => "done");
  await judge.guard().session("Go.", async (run) => {
    assert.equal(await run.call("note", '{"text": "milk"}', tool), "done");
    for (const wrong of ['{"text": ', "[1]", "null", '"milk"']) {
      assert.ok((await run.call("note", wrong, tool)) instanceof NotRun, wrong);
    }
  });
  assert.deepEqual(ran, [{ text: "milk" }]);
  assert.equal(judge.of("call").length, 1);
});

test("arguments that JSON would change are not judged as something else, and do not run", async () => {
  const { ran, tool } = recorder(() => "done");
  const itself: Body = {};
  itself["self"] = itself;
  const wrong: Body[] = [
    { when: new Date(0) },
    { all: new Map() },
    { many: [1, new Set()] },
    { big: 10n },
    { count: Number.NaN },
    { call: () => 1 },
    { list: [undefined] },
    itself,
    { text: { toJSON: () => "milk" } },
    new (class Order {
      constructor(readonly text: string) {}
    })("milk") as unknown as Body,
  ];
  await judge.guard().session("Go.", async (run) => {
    for (const [number, one] of wrong.entries()) {
      const made = await run.call("note", one, tool);
      assert.match(String(made), /cannot be judged as they are/, `${number}`);
    }
    assert.equal(await run.call("note", { text: "milk", more: undefined, deep: [{ n: -0.5 }] }, tool), "done");
  });
  assert.deepEqual(ran, [{ text: "milk", deep: [{ n: -0.5 }] }]);
});

test("what changes the arguments while they are judged changes nothing", async () => {
  const { ran, tool } = recorder(() => "done");
  const args = { path: "/tmp/x" };
  await judge.guard().session("Go.", async (run) => {
    const calling = run.call("wipe", args, tool);
    args.path = "/";
    await calling;
  });
  assert.deepEqual(ran, [{ path: "/tmp/x" }]);
});

test("a result is what hooks left of it, also if they withhold it", async () => {
  judge.say = (event) => {
    if (event["event"] !== "result") return undefined;
    return event["output"] === "a"
      ? { output: "[removed]", changed: true }
      : { decision: "deny", reason: "holds a secret", output: "Withheld: holds a secret" };
  };
  await judge.guard().session("Go.", async (run) => {
    assert.equal(await run.call("note", {}, () => "a"), "[removed]");
    assert.equal(await run.call("note", {}, () => "b"), "Withheld: holds a secret");
  });
});

test("a result that JSON cannot hold goes on as what was judged", async () => {
  await judge.guard().session("Go.", async (run) => {
    assert.deepEqual(await run.call("note", {}, () => ({ when: new Date(0) })), { when: "1970-01-01T00:00:00.000Z" });
    assert.equal(await run.call("note", {}, () => 10n), "10");
    assert.equal(await run.call("note", {}, () => undefined), undefined);
    assert.equal(await run.call("note", {}, () => null), null);
  });
});

test("what a function throws is reported and thrown", async () => {
  const error = new RangeError("boom x");
  const made = judge.guard().session("Go.", (run) => run.call("boom", {}, () => Promise.reject(error)));
  await assert.rejects(made, (thrown) => thrown === error);
  assert.deepEqual(judge.of("result")[0]?.["error"], { message: "boom x", type: "RangeError" });
  assert.deepEqual(judge.ends, [{ reason: "error" }]);
});

test("an exception that hooks withhold is the cause only", async () => {
  judge.say = (event) => (event["event"] === "result" ? { decision: "deny", reason: "holds a secret" } : undefined);
  const made = judge.guard().session("Go.", (run) =>
    run.call("boom", {}, () => {
      throw new Error("password: x");
    }),
  );
  await assert.rejects(made, (error: Error) => error instanceof Refused && error.message === "holds a secret");
});

test("a result that nobody could judge is shown to nobody", async () => {
  judge.say = (event) => (event["event"] === "result" ? { fail: (response) => response.destroy() } : undefined);
  const { ran, tool } = recorder(() => "secret");
  const made = judge.guard().session("Go.", (run) => run.call("note", { a: 1 }, tool));
  await assert.rejects(made, (error: Error) => error instanceof Refused && !error.message.includes("secret"));
  assert.equal(ran.length, 1);
});

test("a function may say that it did not run after all", async () => {
  const made = await judge.guard().session("Go.", (run) =>
    run.call("note", {}, (_, context) => context.refuse("it takes a text")),
  );
  assert.match(String(made), /it takes a text/);
  assert.ok(made instanceof NotRun);
  assert.equal(judge.of("result")[0]?.["not_run"], "it takes a text");
});

test("a denial inside a function is not taken for its own", async () => {
  judge.say = deny("inner");
  const made = judge.guard().session("Go.", (run) =>
    run.call("outer", {}, async () => {
      const inner = await run.call("inner", {}, () => "never");
      if (inner instanceof NotRun) throw inner;
    }),
  );
  await assert.rejects(made, NotRun);
  assert.equal(judge.of("result")[0]?.["not_run"], undefined);
  assert.deepEqual(judge.of("result")[0]?.["error"], { message: "not on my machine", type: "NotRun" });
});

test("an id that a model uses again is another event for the server", async () => {
  const { ran, tool } = recorder(() => "done");
  await judge.guard().session("Go.", async (run) => {
    for (const text of ["a", "a", "b"]) await run.call("note", { text }, tool, { id: "same" });
    await run.call("note", { text: "c" }, tool, { id: "x".repeat(300) });
    await run.call("note", { text: "d" }, tool);
    await run.call("note", { text: "e" }, tool);
  });
  const ids = judge.events.map((one) => one["id"]);
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(ids.every((id) => String(id).length <= 200));
  assert.deepEqual(judge.of("call").slice(0, 3).map((one) => one["id"]), ["same", "same#2", "same#3"]);
  assert.equal(ran.length, 6);
});

test("an answer that was given to somebody else's event is a no", async () => {
  judge.say = (event) =>
    event["event"] === "call"
      ? {
          fail: (response) => {
            const body = { id: event["id"], event: "call", decision: "allow", input: event["input"] };
            response.writeHead(200, { "Idempotency-Replayed": "true" }).end(JSON.stringify(body));
          },
        }
      : undefined;
  const { ran, tool } = recorder(() => "done");
  const made = await judge.guard().session("Go.", (run) => run.call("note", {}, tool));
  assert.match(String(made), /another event has the id/);
  assert.deepEqual(ran, []);
});

test("while a person is asked, the call waits, and the program is told", async () => {
  const asked = { id: "62eb", prompt: "May it?", options: ["Allow", "Deny"], hook: "policy", seconds_left: 60 };
  judge.say = (event) => (event["event"] === "call" ? { decision: "pending", approvals: [{ ...asked, id: "" }] } : undefined);
  judge.poll = (_, times) => (times < 3 ? { decision: "pending", approvals: [asked] } : { input: { path: "/tmp/y" } });
  const { ran, tool } = recorder(() => "wiped");
  await judge.guard().session("Go.", (run) => run.call("wipe", { path: "/tmp/x" }, tool, { id: "c/1" }));
  assert.deepEqual(ran, [{ path: "/tmp/y" }]);
  assert.deepEqual(judge.polls, ["?wait=1", "?wait=3", "?wait=9"]);
  assert.deepEqual(judge.questions.map((one) => one.id), ["", "62eb"]);
});

test("a no of a person is a no", async () => {
  judge.say = (event) => (event["event"] === "call" ? { decision: "pending" } : undefined);
  judge.poll = () => ({ decision: "deny", reason: "ana said: use the trash" });
  const { ran, tool } = recorder(() => "wiped");
  const made = await judge.guard().session("Go.", (run) => run.call("wipe", {}, tool));
  assert.equal(String(made), "ana said: use the trash");
  assert.deepEqual(ran, []);
});

test("who stops waiting runs nothing, even if the yes comes", async () => {
  judge.say = (event) => (event["event"] === "call" ? { decision: "pending" } : undefined);
  judge.poll = () => ({ fail: () => {} }); // no answer yet
  const { ran, tool } = recorder(() => "wiped");
  const stop = new AbortController();
  const reason = new Error("enough");
  await judge.guard().session("Go.", async (run) => {
    const calling = run.call("wipe", {}, tool, { id: "c1", signal: stop.signal });
    while (judge.polls.length === 0) await pause(5);
    stop.abort(reason);
    await assert.rejects(calling, (error) => error === reason);
    await assert.rejects(run.call("wipe", {}, tool, { signal: stop.signal }), (error) => error === reason);
  });
  assert.deepEqual(ran, []);
  const [told] = judge.of("result");
  assert.deepEqual([told?.["call"], told?.["not_run"]], ["c1", "the program stopped waiting"]);
});

test("a signal that comes with the yes counts", async () => {
  const stop = new AbortController();
  judge.say = (event) => {
    if (event["event"] === "call") queueMicrotask(() => stop.abort());
    return undefined;
  };
  const { ran, tool } = recorder(() => "wiped");
  await judge.guard().session("Go.", async (run) => {
    await assert.rejects(run.call("wipe", {}, tool, { signal: stop.signal }), { name: "AbortError" });
  });
  assert.deepEqual(ran, []);
});

test("a session that ends while a call waits runs nothing", async () => {
  judge.say = (event) => (event["event"] === "call" ? { decision: "pending" } : undefined);
  judge.poll = () => ({ fail: () => {} });
  const { ran, tool } = recorder(() => "wiped");
  const run = await judge.guard().open("Go.");
  const calling = run.call("wipe", {}, tool);
  while (judge.polls.length === 0) await pause(5);
  await run.end("user_exit");
  assert.match(String(await calling), /the session has ended/);
  assert.match(String(await run.call("wipe", {}, tool)), /the session has ended/);
  assert.deepEqual(ran, []);
  assert.deepEqual(judge.ends, [{ reason: "user_exit" }]);
});

test("calls side by side are judged each by itself", async () => {
  judge.say = (event) => (event["tool"] === "wipe" ? { decision: "deny", reason: "no" } : undefined);
  const { ran, tool } = recorder(({ text }) => `noted ${text}`);
  const made = await judge.guard().session("Go.", (run) =>
    Promise.all([
      run.call("note", { text: "a" }, tool),
      run.call("wipe", { text: "/" }, tool),
      run.call("note", { text: "c" }, tool),
    ]),
  );
  assert.deepEqual(made.map(String), ["noted a", "no", "noted c"]);
  assert.deepEqual(ran.map((one) => one["text"]).sort(), ["a", "c"]);
});

test("guard.call finds the session that it is called from, and runs nothing without one", async () => {
  const guard = judge.guard();
  const { ran, tool } = recorder(() => "noted");
  const deep = async () => {
    await pause(1);
    return guard.call("note", { text: "milk" }, tool);
  };
  assert.match(String(await deep()), /outside of guard.session/);
  assert.equal(currentRun(), undefined);
  assert.equal(await guard.session("Go.", deep), "noted");
  assert.deepEqual(ran, [{ text: "milk" }]);
});

test("another guard's session is not taken for one's own", async () => {
  await using other = await Judge.start();
  other.say = deny("note", "the other one says no");
  const { ran, tool } = recorder(() => "noted");
  const made = await judge.guard().session("Go.", () => other.guard().call("note", {}, tool));
  assert.ok(made instanceof NotRun);
  assert.deepEqual(ran, []);
});
