/** Mastra itself, with a scripted model, behind hooks. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { governed, governedModel } from "../src/mastra.js";
import { NotRun, type Run } from "../src/index.js";
import { type Body, Judge, deny } from "./judge.js";
import { type Step, scripted } from "./scripted.js";

/** Mastra has types of its own for the interface that it shares with the AI SDK. */
type Model = Extract<ConstructorParameters<typeof Agent>[0]["model"], { specificationVersion: "v4" }>;

let judge: Judge;
beforeEach(async () => {
  judge = await Judge.start();
  mock.method(console, "error", () => {}); // where Mastra logs what we refuse
});
afterEach(async () => {
  mock.restoreAll();
  await judge.stop();
});

function makeTools(ran: Body[]) {
  return {
    note: createTool({
      id: "note",
      description: "Take a note",
      inputSchema: z.object({ text: z.string() }),
      outputSchema: z.object({ noted: z.string() }),
      execute: async (input) => {
        ran.push(input);
        return { noted: input.text };
      },
    }),
    wipe: createTool({
      id: "wipe",
      description: "Delete a file",
      inputSchema: z.object({ path: z.string() }),
      execute: async (input) => {
        ran.push(input);
        return `wiped ${input.path}`;
      },
    }),
  };
}

function makeAgent(script: Step[], ran: Body[], run?: Run): { agent: Agent; model: MockLanguageModelV4 } {
  const model = scripted(...script);
  const agent = new Agent({
    id: "helper",
    name: "helper",
    instructions: "Be brief.",
    model: governedModel(model, run) as Model,
    tools: governed(makeTools(ran), run),
  });
  return { agent, model };
}

/** What the model was sent, whole or streamed. */
function sent(model: MockLanguageModelV4, number: number): string {
  return JSON.stringify([...model.doGenerateCalls, ...model.doStreamCalls][number]?.prompt);
}

const BOTH: Step = [
  { id: "c1", name: "note", input: { text: "milk" } },
  { id: "c2", name: "wipe", input: { path: "/" } },
];

for (const way of ["generate", "stream"] as const) {
  const work = async (agent: Agent): Promise<string> => {
    if (way === "generate") return (await agent.generate("Go.", { maxSteps: 4 })).text;
    return (await agent.stream("Go.", { maxSteps: 4 })).text;
  };

  test(`calls are judged each by itself (${way})`, async () => {
    judge.say = (event) => {
      if (event["event"] === "call" && event["tool"] === "note") return { input: { text: "oat milk" }, changed: true };
      return deny("wipe")(event);
    };
    const ran: Body[] = [];
    const { agent, model } = makeAgent([BOTH, "Done."], ran);
    assert.equal(await judge.guard().session("Go.", () => work(agent)), "Done.");
    assert.deepEqual(ran, [{ text: "oat milk" }]);
    assert.match(sent(model, 1), /oat milk/);
    assert.match(sent(model, 1), /not on my machine/);
    assert.deepEqual(judge.of("call").map((one) => one["id"]).sort(), ["c1", "c2"]);
    assert.deepEqual(judge.of("result").map((one) => one["output"]), [{ noted: "oat milk" }]);
    assert.deepEqual(judge.of("reply").map((one) => one["text"]), ["", "Done."]);
  });

  test(`requests and replies are those that hooks left (${way})`, async () => {
    judge.say = (event) => {
      if (event["event"] === "reply") return { text: "Nearly done.", changed: true };
      if (event["event"] !== "request") return undefined;
      return { messages: [...(event["messages"] as Body[]), { role: "system", content: "It is Monday." }], changed: true };
    };
    const { agent, model } = makeAgent(["Done."], []);
    assert.equal(await judge.guard().session("Go.", () => work(agent)), "Nearly done.");
    assert.match(sent(model, 0), /It is Monday/);
    const messages = judge.of("request")[0]?.["messages"] as Body[];
    assert.match(JSON.stringify(messages), /Be brief/);
  });

  test(`an agent that is made once belongs to the session it is called from (${way})`, async () => {
    const ran: Body[] = [];
    let number = 0;
    const model = new MockLanguageModelV4({
      doGenerate: (options) => scripted(...pick(options.prompt)).doGenerate(options),
      doStream: (options) => scripted(...pick(options.prompt)).doStream(options),
    });
    const pick = (prompt: unknown): Step[] =>
      /"tool"/.test(JSON.stringify(prompt)) ? ["Done."] : [[{ id: `c${(number += 1)}`, name: "note", input: { text: "x" } }]];
    const agent = new Agent({ id: "a", name: "a", instructions: "", model: governedModel(model) as Model, tools: governed(makeTools(ran)) });
    const guards = ["one", "two", "three"].map((program) => judge.guard({ program }));
    await Promise.all(guards.map((guard) => guard.session("Go.", () => work(agent))));
    assert.equal(ran.length, 3);
    const turn = ["prompt", "request", "reply", "call", "result", "request", "reply"];
    assert.deepEqual(judge.bySession(), [turn, turn, turn]);
    const before = judge.events.length;
    await work(agent).catch(() => undefined);
    assert.equal(judge.events.length, before);
    assert.equal(ran.length, 3);
  });

  test(`what hooks left of an input is checked by the tool (${way})`, async () => {
    judge.say = (event) => (event["event"] === "call" ? { input: { text: 5 }, changed: true } : undefined);
    const ran: Body[] = [];
    const { agent, model } = makeAgent([[BOTH[0] as never], "Done."], ran);
    await judge.guard().session("Go.", () => work(agent));
    assert.deepEqual(ran, []);
    assert.match(sent(model, 1), /validation failed/i);
  });

  test(`a denied reply runs nothing (${way})`, async () => {
    judge.say = (event) => (event["event"] === "reply" ? { decision: "deny", reason: "against the rules" } : undefined);
    const ran: Body[] = [];
    const { agent } = makeAgent([BOTH, "Done."], ran);
    const said = await judge.guard().session("Go.", () => work(agent).catch((error: unknown) => String(error)));
    assert.deepEqual(ran, []);
    assert.doesNotMatch(said ?? "", /Done/);
  });
}

test("a tool that only has a definition is not taken for governed", () => {
  assert.throws(() => governed({ ask: createTool({ id: "ask", description: "", inputSchema: z.object({}) }) }), /no execute/);
});

test("a denied call fails rather than returns: a tool's own output may be typed", async () => {
  judge.say = deny("wipe");
  const ran: Body[] = [];
  const { wipe } = governed(makeTools(ran));
  const work = () => Promise.resolve(wipe.execute?.({ path: "/" }, {} as never));
  await assert.rejects(judge.guard().session("Go.", work), (error) => error instanceof NotRun);
  assert.deepEqual(ran, []);
});

test("an aborted run runs nothing more", async () => {
  const stop = new AbortController();
  judge.say = (event) => (event["event"] === "call" ? { decision: "pending" } : undefined);
  judge.poll = () => ({ fail: () => stop.abort() });
  const ran: Body[] = [];
  const { agent } = makeAgent([[BOTH[0] as never], "Done."], ran);
  const work = () => agent.generate("Go.", { abortSignal: stop.signal }).catch(() => undefined);
  await judge.guard().session("Go.", work);
  assert.deepEqual(ran, []);
});
