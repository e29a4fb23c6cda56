/** Whatever a server does: a function runs at most once for each call, with exactly what was allowed. */

import assert from "node:assert/strict";
import { type ServerResponse } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { test } from "node:test";
import fc from "fast-check";
import { NotRun, Refused } from "../src/index.js";
import { type Body, Judge, allow } from "./judge.js";

const RUNS = Number(process.env["RANDOM_RUNS"] ?? 150);

/** One thing that the server does to one request. */
interface Deed {
  status: number;
  change: Body;
  how: "whole" | "cut" | "closed" | "extra" | "prefixed";
  delay: number;
  replayed: boolean;
}

const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const input = fc.dictionary(fc.string(), json, { maxKeys: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as Body);

const change = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: input.map((left) => ({ input: left, changed: true })) },
  { weight: 2, arbitrary: fc.constant({ decision: "pending" }) },
  { weight: 1, arbitrary: fc.constant({ decision: "deny", reason: "no" }) },
  { weight: 1, arbitrary: fc.record({ decision: json }) },
  { weight: 1, arbitrary: fc.record({ id: json }) },
  { weight: 1, arbitrary: fc.record({ event: json }) },
  { weight: 1, arbitrary: fc.record({ input: json }) },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom("notes", "shown", "approvals", "changed", "reason"), json) },
);

const deed: fc.Arbitrary<Deed> = fc.record({
  status: fc.oneof({ weight: 6, arbitrary: fc.constant(200) }, fc.constantFrom(200, 201, 204, 400, 404, 408, 409, 429, 500, 502, 503)),
  change,
  how: fc.oneof(
    { weight: 8, arbitrary: fc.constant("whole" as const) },
    fc.constantFrom("cut" as const, "closed" as const, "extra" as const, "prefixed" as const),
  ),
  delay: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, fc.constantFrom(1, 3, 60)),
  replayed: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
});

const plan = fc.record({
  calls: fc.array(fc.record({ id: fc.constantFrom("a", "a", "b", ""), input }), { minLength: 1, maxLength: 4 }),
  deeds: fc.array(deed, { minLength: 1, maxLength: 25 }),
  stopAfter: fc.option(fc.integer({ min: 0, max: 40 }), { nil: undefined }),
  together: fc.boolean(),
});

interface Yes {
  id: unknown;
  input: unknown;
}

/** Do what the plan says, over and over; what was answered as a good yes is kept. */
function misbehave(judge: Judge, deeds: Deed[]): Yes[] {
  const said: Yes[] = [];
  let next = 0;
  const act = (event: Body) => ({
    fail: (response: ServerResponse) => {
      const { status, change, how, delay, replayed } = deeds[next++ % deeds.length]!;
      const answer: Body = { ...allow(event), ...change };
      const text = JSON.stringify(answer);
      const isYes = status === 200 && how === "whole" && answer["decision"] === "allow";
      if (isYes && answer["event"] === "call") said.push({ id: answer["id"], input: answer["input"] });
      const headers = { "Retry-After": "0", ...(replayed ? { "Idempotency-Replayed": "true" } : {}) };
      setTimeout(() => {
        if (how === "closed") return response.destroy();
        if (how === "cut") {
          response.writeHead(status, { ...headers, "Content-Length": text.length + 5 });
          response.write(text.slice(0, -1));
          return setImmediate(() => response.destroy());
        }
        response.writeHead(status, headers);
        return response.end(how === "extra" ? `${text}}` : how === "prefixed" ? `1${text}` : text);
      }, delay);
    },
  });
  judge.say = act;
  judge.poll = act;
  return said;
}

test("no function runs without a yes to exactly its input", async () => {
  let ranInAll = 0;
  const property = fc.asyncProperty(plan, async ({ calls, deeds, stopAfter, together }) => {
    await using judge = await Judge.start();
    judge.opening = { deadline: -4.96 }; // 40 ms for each request
    const said = misbehave(judge, deeds);
    const ran: Yes[] = [];
    const stop = new AbortController();
    if (stopAfter !== undefined) setTimeout(() => stop.abort(), stopAfter).unref();
    const guard = judge.guard({ patience: 0.15 });
    const work = guard.session(
      undefined,
      async (run) => {
        const one = async (call: { id: string; input: Body }) => {
          try {
            await run.call("tool", call.input, (left, { id }) => ran.push({ id, input: left }), { id: call.id });
          } catch (error) {
            assert.ok(error instanceof Refused || stop.signal.aborted, `${error}`);
          }
        };
        if (together) await Promise.all(calls.map(one));
        else for (const call of calls) await one(call);
      },
      { signal: stop.signal },
    );
    const deadline = setTimeout(() => stop.abort(), 1500); // pending for ever
    await work.catch((error: unknown) => assert.ok(stop.signal.aborted, `${error}`));
    clearTimeout(deadline);
    for (const { id, input: left } of ran) {
      assert.ok(said.some((yes) => yes.id === id && isDeepStrictEqual(yes.input, left)), `${JSON.stringify({ id, left, said })}`);
    }
    assert.equal(new Set(ran.map((one) => one.id)).size, ran.length);
    ranInAll += ran.length;
  });
  await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
  assert.ok(ranInAll > RUNS / 10, `only ${ranInAll} calls ran: the test would notice nothing`);
});

test("nothing but an answer that is a yes lets an answer, a prompt or a request go on", async () => {
  const property = fc.asyncProperty(fc.array(deed, { minLength: 1, maxLength: 10 }), async (deeds) => {
    await using judge = await Judge.start();
    judge.opening = { deadline: -4.96 };
    const isYes = (one: Deed) => one.status === 200 && one.how === "whole" && !one.change["decision"];
    misbehave(judge, deeds);
    const stop = new AbortController();
    const deadline = setTimeout(() => stop.abort(), 1500);
    const work = judge.guard({ patience: 0.1 }).session(undefined, (run) => run.answer("Done."), { signal: stop.signal });
    const left = await work.catch((error: unknown) => error);
    clearTimeout(deadline);
    if (deeds.some(isYes)) return;
    assert.ok(left instanceof Refused || stop.signal.aborted, String(left));
    assert.ok(!(left instanceof NotRun));
  });
  await fc.assert(property, { numRuns: RUNS / 3, endOnFailure: true });
});
