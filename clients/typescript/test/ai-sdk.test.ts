/** The AI SDK itself, with a scripted model, behind hooks. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { type ToolSet, dynamicTool, generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import { MockLanguageModelV3, MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { governed, governedModel } from "../src/ai-sdk.js";
import { type Run } from "../src/index.js";
import { type Body, Judge, deny } from "./judge.js";
import { type Step, describe, scripted, usage } from "./scripted.js";

let judge: Judge;
beforeEach(async () => {
  judge = await Judge.start();
});
afterEach(() => judge.stop());

function makeTools(ran: Body[]) {
  return {
    note: tool({
      inputSchema: z.object({ text: z.string() }),
      execute: async (input) => {
        ran.push(input);
        return `noted ${input.text}`;
      },
    }),
    wipe: tool({
      inputSchema: jsonSchema<{ path: string }>({ type: "object", properties: { path: { type: "string" } } }),
      execute: (input) => {
        ran.push(input);
        return { wiped: input.path };
      },
    }),
  };
}

async function work(model: MockLanguageModelV4 | MockLanguageModelV3, tools: ToolSet, run: Run, prompt = "Go.") {
  const { text, steps } = await generateText({ model, tools: governed(tools, run), prompt, stopWhen: isStepCount(5), maxRetries: 0 });
  return { text, steps };
}

const promptOf = (model: MockLanguageModelV4, number: number) => JSON.stringify(model.doGenerateCalls[number]?.prompt);

test("calls side by side are judged each by itself, and the model reads why one did not run", async () => {
  judge.say = (event) => {
    if (event["event"] === "call" && event["tool"] === "note") return { input: { text: "oat milk" }, changed: true };
    return deny("wipe")(event);
  };
  const ran: Body[] = [];
  const model = scripted([{ id: "c1", name: "note", input: { text: "milk" } }, { id: "c2", name: "wipe", input: { path: "/" } }], "Done.");
  const { text } = await judge.guard().session("Go.", (run) => work(model, makeTools(ran), run));
  assert.equal(text, "Done.");
  assert.deepEqual(ran, [{ text: "oat milk" }]);
  assert.match(promptOf(model, 1), /noted oat milk/);
  assert.match(promptOf(model, 1), /"output":{"type":"error-text","value":"not on my machine"}/);
  assert.deepEqual(judge.of("call").map((one) => one["id"]), ["c1", "c2"]);
});

test("an input that hooks left and the tool does not take runs nothing", async () => {
  judge.say = (event) => (event["event"] === "call" ? { input: { text: 5 }, changed: true } : undefined);
  const ran: Body[] = [];
  const model = scripted([{ id: "c1", name: "note", input: { text: "milk" } }], "Done.");
  await judge.guard().session("Go.", (run) => work(model, makeTools(ran), run));
  assert.deepEqual(ran, []);
  assert.match(promptOf(model, 1), /hooks left an input that it does not take/);
  assert.match(String(judge.of("result")[0]?.["not_run"]), /does not take/);
});

test("an input that the tool's own schema has transformed is judged as it runs", async () => {
  const ran: unknown[] = [];
  const tools = {
    count: tool({
      inputSchema: z.object({ n: z.string().transform(Number) }),
      execute: (input) => ran.push(input),
    }),
    later: tool({
      inputSchema: z.object({ when: z.string().transform((text) => new Date(text)) }),
      execute: (input) => ran.push(input),
    }),
  };
  const script: Step = [{ id: "c1", name: "count", input: { n: "5" } }, { id: "c2", name: "later", input: { when: "2026-01-01" } }];
  const model = scripted(script, "Done.");
  await judge.guard().session("Go.", (run) => work(model, tools, run));
  assert.deepEqual(ran, [{ n: 5 }]);
  assert.deepEqual(judge.of("call")[0]?.["input"], { n: 5 });
  assert.match(promptOf(model, 1), /when is a Date/);
});

test("results that a tool yields are held back but for the last", async () => {
  judge.say = (event) => (event["event"] === "result" ? { output: "[removed]", changed: true } : undefined);
  const tools = {
    slow: tool({
      inputSchema: z.object({}),
      async *execute() {
        yield "first secret";
        yield "second secret";
      },
    }),
  };
  const model = scripted([{ id: "c1", name: "slow", input: {} }], "Done.");
  const seen = await judge.guard().session("Go.", async (run) => {
    const parts = streamText({ model, tools: governed(tools, run), prompt: "Go.", stopWhen: isStepCount(3) }).fullStream;
    let all = "";
    for await (const part of parts) all += JSON.stringify(part);
    return all;
  });
  assert.equal(judge.of("result")[0]?.["output"], "second secret");
  assert.match(seen, /\[removed\]/);
  assert.doesNotMatch(seen, /secret/);
});

test("a tool that runs elsewhere is not taken for governed", () => {
  assert.throws(() => governed({ ask: tool({ inputSchema: z.object({}) }) }), /no execute/);
});

test("tools whose types are not known and MCP's are governed as well", async () => {
  judge.say = deny("any");
  const ran: unknown[] = [];
  const tools = { any: dynamicTool({ inputSchema: z.unknown(), execute: async (input) => ran.push(input) }) };
  const model = scripted([{ id: "c1", name: "any", input: { x: 1 } }], "Done.");
  await judge.guard().session("Go.", (run) => work(model, tools, run));
  assert.deepEqual(ran, []);
});

test("tools that were governed once belong to the session they are called from", async () => {
  const ran: Body[] = [];
  const tools = governed(makeTools(ran));
  const once = (text: string) => {
    const model = scripted([{ id: "c1", name: "note", input: { text } }], "Done.");
    return generateText({ model, tools, prompt: "Go.", stopWhen: isStepCount(3) }).then(() => promptOf(model, 1));
  };
  const guard = judge.guard();
  await Promise.all(["a", "b", "c"].map((text) => guard.session(text, () => once(text))));
  const turn = ["prompt", "call", "result"];
  assert.deepEqual(judge.bySession(), [turn, turn, turn]);
  assert.deepEqual(ran.map((one) => one["text"]).sort(), ["a", "b", "c"]);
  assert.match(await once("d"), /outside of guard.session/);
  assert.equal(ran.length, 3);
});

test("an aborted generation runs nothing more", async () => {
  const stop = new AbortController();
  judge.say = (event) => (event["event"] === "call" ? { decision: "pending" } : undefined);
  judge.poll = () => ({ fail: () => stop.abort() });
  const ran: Body[] = [];
  const model = scripted([{ id: "c1", name: "note", input: { text: "milk" } }], "Done.");
  await judge.guard().session("Go.", async (run) => {
    const made = generateText({ model, tools: governed(makeTools(ran), run), prompt: "Go.", abortSignal: stop.signal, stopWhen: isStepCount(3) });
    await made.catch(() => undefined);
  });
  assert.deepEqual(ran, []);
  assert.equal(judge.of("result")[0]?.["not_run"], "the program stopped waiting");
});

// Models

test("a governed model sends what hooks left, and keeps what they are not shown", async () => {
  judge.say = (event) => {
    if (event["event"] !== "request") return undefined;
    const messages = (event["messages"] as Body[]).map((one) => ({
      ...one,
      content: JSON.parse(JSON.stringify(one["content"]).replace("4711", "[number]")),
    }));
    return { messages: [...messages, { role: "system", content: "It is Monday." }], changed: true };
  };
  const model = scripted("Done.");
  const image = { type: "file" as const, mediaType: "image/png", data: new Uint8Array([1, 2, 3]) };
  await judge.guard().session("Go.", (run) =>
    generateText({
      model: governedModel(model, run),
      instructions: "Be brief.",
      messages: [
        { role: "user", content: [{ type: "text", text: "My PIN is 4711." }, image], providerOptions: { a: { b: 1 } } },
        { role: "assistant", content: [{ type: "reasoning", text: "hm" }, { type: "text", text: "Yes?" }] },
        { role: "user", content: "Go on." },
      ],
    }),
  );
  const sent = judge.of("request")[0]?.["messages"] as Body[];
  assert.deepEqual(sent.map((one) => one["role"]), ["system", "user", "assistant", "user"]);
  assert.doesNotMatch(JSON.stringify(sent), /"data"|hm/);
  const prompt = model.doGenerateCalls[0]!.prompt;
  assert.deepEqual(prompt.map((one) => one.role), ["system", "user", "assistant", "user", "user"]);
  const [, first, second] = prompt;
  assert.ok(first?.role === "user" && second?.role === "assistant");
  assert.equal(first.content[0]?.type === "text" && first.content[0].text, "My PIN is [number].");
  assert.equal(first.content[1]?.type, "file");
  assert.ok(JSON.stringify(first.content[1]).includes("1"), "the image is there");
  assert.deepEqual(first.providerOptions, { a: { b: 1 } });
  assert.deepEqual(second.content.map((part) => part.type), ["reasoning", "text"]);
  assert.deepEqual(prompt.at(-1)?.content, [{ type: "text", text: "It is Monday." }]);
});

test("a note behind calls follows the results of all of them", async () => {
  let requests = 0;
  judge.say = (event) => {
    if (event["event"] !== "request") return undefined;
    requests += 1;
    const added = requests === 1 ? [] : [{ role: "system", content: "Lint: line 3" }];
    return { messages: [...(event["messages"] as Body[]), ...added], changed: true };
  };
  const model = scripted([{ id: "c1", name: "note", input: { text: "a" } }, { id: "c2", name: "note", input: { text: "b" } }], "Done.");
  await judge.guard().session("Go.", (run) =>
    generateText({ model: governedModel(model, run), tools: governed(makeTools([]), run), prompt: "Go.", stopWhen: isStepCount(3) }),
  );
  const sent = judge.of("request")[1]?.["messages"] as Body[];
  assert.deepEqual(sent.map((one) => [one["role"], one["tool_call_id"]]), [["user", undefined], ["assistant", undefined], ["tool", "c1"], ["tool", "c2"]]);
  assert.deepEqual(sent[1]?.["tool_calls"], [{ id: "c1", name: "note", arguments: { text: "a" } }, { id: "c2", name: "note", arguments: { text: "b" } }]);
  const prompt = model.doGenerateCalls[1]!.prompt;
  assert.deepEqual(prompt.map((one) => [one.role, one.content.length]), [["user", 1], ["assistant", 2], ["tool", 2], ["user", 1]]);
});

test("results that hooks change or leave out of a request reach the model so", async () => {
  judge.say = (event) => {
    const messages = (event["messages"] ?? []) as Body[];
    if (event["event"] !== "request" || messages.length < 4) return undefined;
    const [first, second, , other] = messages;
    const made = { role: "tool", tool_call_id: "c1", content: "There is no result." };
    return { messages: [first, second, made, { ...other, content: "[removed]" }], changed: true };
  };
  const model = scripted([{ id: "c1", name: "note", input: { text: "a" } }, { id: "c2", name: "note", input: { text: "b" } }], "Done.");
  await judge.guard().session("Go.", (run) =>
    generateText({ model: governedModel(model, run), tools: governed(makeTools([]), run), prompt: "Go.", stopWhen: isStepCount(3) }),
  );
  const results = model.doGenerateCalls[1]!.prompt.filter((one) => one.role === "tool").flatMap((one) => one.content);
  assert.deepEqual(
    results.map((part) => part.type === "tool-result" && [part.toolCallId, part.toolName, part.output]),
    [
      ["c1", "note", { type: "text", value: "There is no result." }],
      ["c2", "note", { type: "text", value: "[removed]" }],
    ],
  );
});

for (const wrong of [
  [{ role: "user", content: null }],
  [{ role: "user", content: [{ type: "image", part: 7 }] }],
  [{ role: "user", content: [5] }],
  [{ role: "assistant", content: "x", tool_calls: [{ id: "c9", name: "wipe", arguments: {} }] }],
]) {
  test(`a request that cannot be put is not sent: ${JSON.stringify(wrong)}`, async () => {
    judge.say = (event) =>
      event["event"] === "request"
        ? { messages: wrong.map((one, index) => ({ ...one, metadata: (event["messages"] as Body[])[index]?.["metadata"] })) }
        : undefined;
    const model = scripted("Done.");
    const messages = [{ role: wrong[0]!.role as "user", content: "Go." }];
    const made = judge.guard().session("Go.", (run) => generateText({ model: governedModel(model, run), messages, maxRetries: 0 }));
    await assert.rejects(made, /request cannot be sent/);
    assert.deepEqual(model.doGenerateCalls, []);
  });
}

test("a request that is denied reaches no model", async () => {
  judge.say = (event) => (event["event"] === "request" ? { decision: "deny", reason: "against the rules" } : undefined);
  const model = scripted("Done.");
  const made = judge.guard().session("Go.", (run) => generateText({ model: governedModel(model, run), prompt: "Go." }));
  await assert.rejects(made, /against the rules/);
  assert.deepEqual(model.doGenerateCalls, []);
});

test("outside of a session a governed model is not called", async () => {
  const model = scripted("Done.");
  await assert.rejects(generateText({ model: governedModel(model), prompt: "Go." }), /outside of guard.session/);
  assert.deepEqual(model.doGenerateCalls, []);
});

for (const way of ["whole", "streamed"] as const) {
  const generate = async (model: MockLanguageModelV4, ran: Body[], run: Run) => {
    const options = { model: governedModel(model, run), tools: governed(makeTools(ran), run), prompt: "Go.", stopWhen: isStepCount(3), maxRetries: 0 };
    if (way === "whole") return (await generateText(options)).text;
    const streamed = streamText({ ...options, onError: () => {} });
    let text = "";
    for await (const part of streamed.fullStream) {
      if (part.type === "error") throw part.error;
      if (part.type === "text-delta") text += part.text;
    }
    return text;
  };

  test(`a reply is judged before anybody sees it (${way})`, async () => {
    judge.say = (event) => (event["event"] === "reply" ? { text: "Nearly done.", changed: true } : undefined);
    assert.equal(await judge.guard().session("Go.", (run) => generate(scripted("Done for good."), [], run)), "Nearly done.");
    const [told] = judge.of("reply");
    assert.deepEqual([told?.["text"], told?.["usage"], told?.["finish_reason"]], ["Done for good.", { input_tokens: 3, output_tokens: 2, total_tokens: 5 }, "stop"]);
    assert.deepEqual([told?.["model"], told?.["provider"]], ["mock-model-id", "mock-provider"]);
  });

  test(`a reply that nobody changes goes on as it came (${way})`, async () => {
    const ran: Body[] = [];
    const model = scripted([{ id: "c1", name: "note", input: { text: "a" } }], "Done for good.");
    assert.equal(await judge.guard().session("Go.", (run) => generate(model, ran, run)), "Done for good.");
    assert.deepEqual(ran, [{ text: "a" }]);
    assert.deepEqual(judge.of("reply")[0]?.["calls"], [{ id: "c1", name: "note", arguments: { text: "a" } }]);
  });

  test(`a denied reply is seen by nobody, and its calls do not run (${way})`, async () => {
    judge.say = (event) => (event["event"] === "reply" ? { decision: "deny", reason: "against the rules" } : undefined);
    const ran: Body[] = [];
    const model = scripted([{ id: "c1", name: "note", input: { text: "a" } }], "Done.");
    await assert.rejects(judge.guard().session("Go.", (run) => generate(model, ran, run)), /against the rules/);
    assert.deepEqual(ran, []);
  });

  test(`calls that hooks change, drop or add in a reply are those that run (${way})`, async () => {
    let replies = 0;
    judge.say = (event) => {
      if (event["event"] !== "reply" || (replies += 1) > 1) return undefined;
      const [, second] = event["calls"] as Body[];
      return { calls: [{ ...second, arguments: { text: "oat milk" } }, { id: "c3", name: "note", arguments: { text: "new" } }], changed: true };
    };
    const ran: Body[] = [];
    const script: Step = [{ id: "c1", name: "wipe", input: { path: "/" } }, { id: "c2", name: "note", input: { text: "milk" } }];
    await judge.guard().session("Go.", (run) => generate(scripted(script, "Done."), ran, run));
    assert.deepEqual(ran, [{ text: "oat milk" }, { text: "new" }]);
  });

  test(`a call whose input is no JSON does not run (${way})`, async () => {
    const ran: Body[] = [];
    const model = scripted([{ id: "c1", name: "note", input: '{"text": ' }], "Done.");
    await judge.guard().session("Go.", (run) => generate(model, ran, run));
    assert.deepEqual(ran, []);
    assert.deepEqual(judge.of("reply")[0]?.["calls"], []);
    assert.deepEqual(judge.of("call"), []);
  });
}

test("a model of the interface before is governed as well", async () => {
  judge.say = (event) => (event["event"] === "reply" ? { text: "Nearly done.", changed: true } : undefined);
  const model = new MockLanguageModelV3({ doGenerate: async () => ({ ...describe("Done."), usage, warnings: [] }) });
  const made = await judge.guard().session("Go.", (run) => generateText({ model: governedModel(model, run), prompt: "Go." }));
  assert.equal(made.text, "Nearly done.");
});

test("what a provider runs itself is shown and left alone", async () => {
  const content = [
    { type: "tool-call" as const, toolCallId: "p1", toolName: "search", input: '{"q":"x"}', providerExecuted: true },
    { type: "tool-result" as const, toolCallId: "p1", toolName: "search", result: { found: 1 } },
    { type: "text" as const, text: "Done." },
  ];
  const model = new MockLanguageModelV4({
    doGenerate: async () => ({ content, finishReason: { unified: "stop", raw: undefined }, usage, warnings: [] }),
  });
  const made = await judge.guard().session("Go.", async (run) => {
    const governing = governedModel(model, run);
    const first = await generateText({ model: governing, prompt: "Go." });
    await generateText({ model: governing, messages: [{ role: "user", content: "Go." }, ...first.response.messages, { role: "user", content: "And?" }] });
    return first;
  });
  assert.equal(made.text, "Done.");
  assert.deepEqual(judge.of("reply")[0]?.["calls"], []);
  const sent = judge.of("request")[1]?.["messages"] as Body[];
  assert.match(JSON.stringify(sent), /"found":1/);
  assert.deepEqual(sent.filter((one) => one["tool_calls"] !== undefined), []);
  assert.match(JSON.stringify(model.doGenerateCalls[1]?.prompt), /p1/);
});
