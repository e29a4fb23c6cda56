/** Sessions: prompts, answers, requests, replies, notes, leases, and how they end. */

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, test } from "node:test";
import { Guard, Refused } from "../src/index.js";
import { type Body, Judge, recorder, send } from "./judge.js";

let judge: Judge;
beforeEach(async () => {
  judge = await Judge.start();
});
afterEach(() => judge.stop());

test("a session is opened as the page says", async () => {
  await judge.guard({ program: "my agent!", lease: 20 }).session("Go.", () => undefined);
  const [opened] = judge.openings;
  assert.equal(typeof opened?.["key"], "string");
  assert.deepEqual({ ...opened, key: "" }, { key: "", program: "my agent-", requests: true, lease: 20 });
  assert.equal(judge.headers[0]?.["authorization"], "Bearer t0ken");
  assert.equal(judge.headers[0]?.["content-type"], "application/json");
});

test("the prompt is what hooks left of it, and a denied one begins no work", async () => {
  judge.say = (event) => (event["text"] === "a" ? { text: "b" } : { decision: "deny", reason: "against the rules" });
  assert.equal(await judge.guard().session("a", (run) => run.prompt), "b");
  const never = () => assert.fail("work began");
  await assert.rejects(judge.guard().session("c", never), (error) => isRefused(error, "against the rules"));
  assert.deepEqual(judge.ends, [{ reason: "complete" }, { reason: "complete" }]);
});

test("a session without a prompt has none", async () => {
  assert.equal(await judge.guard().session(undefined, (run) => run.prompt), "");
  assert.deepEqual(judge.events, []);
});

test("the answer is what hooks left of it; a denied one stays inside", async () => {
  judge.say = (event) => {
    if (event["event"] !== "answer") return undefined;
    return event["text"] === "a" ? { text: "b" } : { decision: "deny", reason: "against the rules" };
  };
  assert.equal(await judge.guard().session("Go.", (run) => run.answer("a")), "b");
  const made = judge.guard().session("Go.", (run) => run.answer("c", { streamed: true }));
  await assert.rejects(made, (error) => isRefused(error, "against the rules"));
  assert.equal(judge.of("answer")[1]?.["streamed"], true);
});

test("a request is what hooks left of it; a denied one reaches no model", async () => {
  const mine = [{ role: "user", content: "Buy milk." }];
  const added = { role: "system", content: "It is Monday." };
  judge.say = (event) => {
    if (event["event"] !== "request") return undefined;
    return event["model"] === "m" ? { messages: [...mine, added] } : { decision: "deny", reason: "too long" };
  };
  await judge.guard().session("Go.", async (run) => {
    assert.deepEqual(await run.messages(mine, { model: "m", provider: "p", tools: ["note"] }), [...mine, added]);
    await assert.rejects(run.messages(mine), (error) => isRefused(error, "too long"));
  });
  assert.equal(mine.length, 1);
  assert.deepEqual(judge.of("request")[0]?.["tools"], ["note"]);
});

test("a reply is what hooks left of it", async () => {
  const call = { id: "c1", name: "note", arguments: { text: "milk" } };
  judge.say = (event) => (event["event"] === "reply" ? { text: "b", calls: [] } : undefined);
  const made = await judge.guard().session("Go.", (run) => run.reply({ text: "a", calls: [call], durationMs: 5, finishReason: "stop" }));
  assert.deepEqual(made, { text: "b", calls: [] });
  const [told] = judge.of("reply");
  assert.deepEqual([told?.["calls"], told?.["duration_ms"], told?.["finish_reason"]], [[call], 5, "stop"]);
});

test("without requests, notes are handed out once, in order", async () => {
  const note = (text: string) => ({ text, role: "system", lasting: true });
  judge.say = (event) => ({ notes: [note(`${event["event"]}`)] });
  await judge.guard().session(
    "Go.",
    async (run) => {
      await run.call("note", {}, () => "a");
      assert.deepEqual(run.takeNotes().map((one) => one.text), ["prompt", "call", "result"]);
      assert.deepEqual(run.takeNotes(), []);
      await assert.rejects(run.messages([]), TypeError);
    },
    { requests: false },
  );
  assert.equal(judge.openings[0]?.["requests"], false);
});

test("messages for the person are shown", async () => {
  judge.opening = { shown: [{ text: "Hello.", level: "info", source: "hook:a" }] };
  judge.say = () => ({ shown: [{ text: "A copy was kept.", level: "warning", source: "hook:b" }] });
  await judge.guard().session("Go.", () => undefined);
  assert.deepEqual(judge.shown.map((one) => `${one.level} ${one.text}`), ["info Hello.", "warning A copy was kept."]);
});

test("while a tool runs, the lease is renewed; after the end it is not", async () => {
  judge.opening = { lease: 0.15 };
  await judge.guard().session("Go.", (run) => run.call("slow", {}, () => pause(250)));
  const { length } = judge.renewals;
  assert.ok(length >= 2, `${length} renewals`);
  await pause(120);
  assert.equal(judge.renewals.length, length);
});

test("work that throws ends the session as an error", async () => {
  const error = new Error("mine");
  const made = judge.guard().session("Go.", () => Promise.reject(error));
  await assert.rejects(made, (thrown) => thrown === error);
  assert.deepEqual(judge.ends, [{ reason: "error" }]);
});

test("a signal ends the session as stopped by its person", async () => {
  const stop = new AbortController();
  judge.say = (event) => (event["event"] === "call" ? { decision: "pending" } : undefined);
  judge.poll = () => ({ fail: () => stop.abort() });
  const { ran, tool } = recorder(() => "wiped");
  const made = judge.guard().session("Go.", (run) => run.call("wipe", {}, tool), { signal: stop.signal });
  await assert.rejects(made, { name: "AbortError" });
  assert.deepEqual(judge.ends, [{ reason: "user_exit" }]);
  assert.deepEqual(ran, []);
  const late = judge.guard().session("Go.", () => assert.fail("work began"), { signal: stop.signal });
  await assert.rejects(late, { name: "AbortError" });
});

test("sessions of a conversation are turns of one", async () => {
  const guard = judge.guard();
  await guard.conversation(async () => {
    const first = await guard.session("One.", (run) => run);
    await guard.session("Two.", (run) => run.call("note", {}, () => "a"));
    assert.match(String(await first.call("note", {}, () => "late")), /ended/);
    assert.deepEqual(judge.ends, []);
  });
  assert.equal(judge.openings.length, 1);
  assert.deepEqual(judge.of("prompt").map((one) => one["text"]), ["One.", "Two."]);
  assert.deepEqual(judge.ends, [{ reason: "complete" }]);
  await guard.session("Three.", () => undefined);
  assert.equal(judge.openings.length, 2);
});

test("a signal stops a turn of a conversation, and not the conversation", async () => {
  const guard = judge.guard();
  const stop = new AbortController();
  judge.say = (event) => (event["event"] === "call" ? { decision: "pending" } : undefined);
  judge.poll = () => ({ fail: () => stop.abort() });
  const { ran, tool } = recorder(() => "wiped");
  await guard.conversation(async () => {
    const made = guard.session("One.", (run) => run.call("wipe", {}, tool), { signal: stop.signal });
    await assert.rejects(made, { name: "AbortError" });
    assert.deepEqual(judge.ends, []);
    assert.equal(await guard.session("Two.", (run) => run.prompt), "Two.");
  });
  assert.deepEqual(ran, []);
});

test("a run that is opened by hand ends with its block", async () => {
  {
    await using run = await judge.guard().open("Go.");
    assert.equal(run.prompt, "Go.");
    assert.equal(run.session, "s1");
    assert.deepEqual(judge.ends, []);
  }
  assert.deepEqual(judge.ends, [{ reason: "complete" }]);
});

test("sessions at the same time do not hear one another", async () => {
  const guard = judge.guard();
  judge.say = (event) => ({ notes: [{ text: `${event["text"]}`, role: "system", lasting: true }] });
  const work = Array.from({ length: 20 }, (_, number) =>
    guard.session(
      `p${number}`,
      async (run) => {
        await pause(number % 3);
        return run.takeNotes().map((one) => one.text);
      },
      { requests: false },
    ),
  );
  const made = await Promise.all(work);
  made.forEach((notes, number) => assert.deepEqual(notes, [`p${number}`]));
  assert.equal(new Set(judge.openings.map((one) => one["key"])).size, 20);
});

test("a session that is refused, or opened wrongly, begins no work", async () => {
  const never = () => assert.fail("work began");
  for (const wrong of [{ status: "ended", reason: "timeout" }, { session: "" }, { session: 5 }, { lease: "x" }, { deadline: null }]) {
    judge.opening = wrong as Body;
    await assert.rejects(judge.guard().session("Go.", never), Refused, JSON.stringify(wrong));
  }
});

test("an end that nobody answers is shown, and takes no result away", async () => {
  const made = await judge.guard().session("Go.", async (run) => {
    const answer = await run.answer("Done.");
    await judge.stop();
    return answer;
  });
  assert.equal(made, "Done.");
  assert.match(judge.shown[0]?.text ?? "", /could not be ended/);
});

test("a guard without a server, or with a dangerous address, is not made", () => {
  const url = "http://127.0.0.1:8412";
  const env = { ...process.env };
  delete process.env["AMPLIFIER_JUDGE_URL"];
  delete process.env["AMPLIFIER_JUDGE_TOKEN"];
  try {
    assert.throws(() => new Guard(), /amplifier judge/);
    assert.throws(() => new Guard({ url }), /amplifier judge/);
    for (const wrong of ["http://judge.example:1", "http://127.0.0.1.example", `${url}/x`, "http://a:b@localhost", "ftp://localhost", "nonsense", `${url}?x=1`]) {
      assert.throws(() => new Guard({ url: wrong, token: "t" }), TypeError, wrong);
    }
    for (const wrong of ["a b", "a\nb", "ü"]) assert.throws(() => new Guard({ url, token: wrong }), TypeError);
    for (const good of [url, "http://localhost:1", "http://[::1]:1", "https://judge.example"]) new Guard({ url: good, token: "t" });
    process.env["AMPLIFIER_JUDGE_URL"] = url;
    process.env["AMPLIFIER_JUDGE_TOKEN"] = "t";
    new Guard();
  } finally {
    process.env = env;
  }
});

test("a token is sent to no other address", async () => {
  await using other = await Judge.start();
  judge.say = (event) => ({
    fail: (response) => send(response, 307, allowed(event), { Location: `${other.url}/api/v1/judge/sessions` }),
  });
  await assert.rejects(judge.guard().session("Go.", () => undefined), Refused);
  assert.deepEqual(other.headers, []);
});

function allowed(event: Body): Body {
  return { id: event["id"], event: event["event"], decision: "allow", text: "Go." };
}

function isRefused(error: unknown, reason: string): boolean {
  assert.ok(error instanceof Refused);
  assert.equal(error.message, reason);
  return true;
}
