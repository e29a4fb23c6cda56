/**
 * Runs agents for the scenarios of tests/adapters: one JSON object a line, in and out.
 *
 * In: {"id", "kind": "own-loop" | "ai-sdk" | "mastra", "how": "run" | "stream", "url", "token",
 * "script", "helper", "prompt"} or {"id", "stop": true}. Out: {"id", "ran", "error"?}.
 */

import { createInterface } from "node:readline";
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { MCPClient } from "@mastra/mcp";
import { type ToolSet, generateText, isStepCount, streamText, tool } from "ai";
import { type MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import * as sdk from "../src/ai-sdk.js";
import { Guard, Refused, type Run } from "../src/index.js";
import * as mastra from "../src/mastra.js";
import { type Call, type Step, scripted } from "./scripted.js";

interface Job {
  id: number;
  kind: "own-loop" | "ai-sdk" | "mastra";
  how: "run" | "stream";
  url: string;
  token: string;
  script: Step[];
  helper: Step[] | null;
  /** The command of an MCP server that has the tools. */
  mcp: string[] | null;
  prompt: string;
  stop?: true;
}

/** What happened, as the agent's own parts saw it. */
class Ran {
  answer = "";
  readonly calls: [string, object][] = [];
  readonly requests: string[] = [];
  readonly pieces: string[] = [];
}

type Arguments = Record<string, string>;

/** What the tools do, and that they did it. */
function use(ran: Ran, name: string, args: Arguments): string {
  const [value] = Object.values(args);
  if (typeof value !== "string") throw new TypeError(`${name} takes a text`);
  ran.calls.push([name, args]);
  if (name === "boom") throw new Error(`boom ${value}`);
  return `${name === "note" ? "noted" : "wiped"} ${value}`;
}

type Work = (run: Run, job: Job, ran: Ran) => Promise<string>;

/** A sub-agent of this run, with its own script. */
function help(work: Work, run: Run, job: Job, ran: Ran, task: string): Promise<string> {
  return work(run, { ...job, script: job.helper ?? [], helper: null, prompt: task }, ran);
}

// A loop by hand, with messages as OpenAI's chat completions have them

const KNOWN = new Set(["note", "wipe", "boom"]);

const loop: Work = async (run, job, ran) => {
  const messages: object[] = [{ role: "user", content: job.prompt }];
  for (const step of job.script) {
    ran.requests.push(JSON.stringify(await run.messages(messages, { provider: "script", tools: [...KNOWN] })));
    const said = typeof step === "string" ? { text: step, calls: [] } : { text: "", calls: step.map(describe) };
    const { text, calls } = await run.reply({ ...said, provider: "script" });
    if (calls.length === 0) return text;
    const written = calls.map(({ id, name, arguments: args }) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
    }));
    messages.push({ role: "assistant", content: null, tool_calls: written });
    const results = await Promise.all(
      calls.map(async ({ id, name, arguments: args }) => {
        const made = run.call(
          name,
          args as Arguments,
          (left: Arguments) => {
            if (name === "helper") return help(loop, run, job, ran, String(left["task"]));
            if (!KNOWN.has(name)) throw new Error(`there is no tool ${name}`);
            return use(ran, name, left);
          },
          { id },
        );
        const content = String(await made.catch((error: unknown) => error));
        return { role: "tool", tool_call_id: id, content };
      }),
    );
    messages.push(...results);
  }
  return "";
};

function describe({ id, name, input }: Call) {
  return { id, name, arguments: input };
}

// The AI SDK

const work: Work = async (run, job, ran) => {
  const model = scripted(...job.script);
  const make = (name: string, key: string) =>
    tool({
      inputSchema: z.object({ [key]: z.string() }),
      execute: async (args) => {
        if (name === "helper") return help(work, run, job, ran, String(args["task"]));
        return use(ran, name, args as Arguments);
      },
    });
  const tools: ToolSet = { note: make("note", "text"), wipe: make("wipe", "path"), boom: make("boom", "text") };
  if (job.helper) tools["helper"] = make("helper", "task");
  const [command = "", ...args] = job.mcp ?? [];
  const client = job.mcp && (await createMCPClient({ transport: new StdioMCPTransport({ command, args }) }));
  const options = {
    model: sdk.governedModel(model, run),
    tools: sdk.governed(client ? await client.tools() : tools, run),
    prompt: job.prompt,
    stopWhen: isStepCount(10),
    maxRetries: 0,
  };
  try {
    if (job.how === "run") return (await generateText(options)).text;
    let text = "";
    for await (const part of streamText({ ...options, onError: () => {} }).fullStream) {
      if (part.type === "error") throw part.error;
      if (part.type === "start-step") text = "";
      if (part.type !== "text-delta") continue;
      text += part.text;
      ran.pieces.push(part.text);
    }
    return text;
  } finally {
    await client?.close();
    keepRequests(model, ran);
  }
};

function keepRequests(model: MockLanguageModelV4, ran: Ran): void {
  for (const { prompt } of [...model.doGenerateCalls, ...model.doStreamCalls]) ran.requests.push(JSON.stringify(prompt));
}

// Mastra

type MastraModel = Extract<ConstructorParameters<typeof Agent>[0]["model"], { specificationVersion: "v4" }>;

type Tools = Awaited<ReturnType<MCPClient["listTools"]>>;

const workInMastra: Work = async (run, job, ran) => {
  const model = scripted(...job.script);
  const make = (id: string, key: string) =>
    createTool({
      id,
      description: id,
      inputSchema: z.object({ [key]: z.string() }),
      execute: async (args) => {
        if (id === "helper") return help(workInMastra, run, job, ran, String(args["task"]));
        return use(ran, id, args as Arguments);
      },
    });
  const tools: Record<string, Tools[string]> = { note: make("note", "text"), wipe: make("wipe", "path"), boom: make("boom", "text") };
  if (job.helper) tools["helper"] = make("helper", "task");
  const [command = "", ...args] = job.mcp ?? [];
  const client = job.mcp && new MCPClient({ id: `${job.id}`, servers: { notes: { command, args } } });
  for (const [name, one] of Object.entries((await client?.listTools()) ?? {})) {
    tools[name.replace("notes_", "")] = one;
  }
  const agent = new Agent({
    id: "agent",
    name: "agent",
    instructions: "",
    model: mastra.governedModel(model, run) as MastraModel,
    tools: mastra.governed(tools, run) as Tools,
    maxRetries: 0,
  });
  try {
    if (job.how === "run") {
      const made = await agent.generate(job.prompt, { maxSteps: 10 });
      if (made.error) throw made.error;
      return made.text;
    }
    const streamed = await agent.stream(job.prompt, { maxSteps: 10 });
    for await (const piece of streamed.textStream) ran.pieces.push(piece);
    if (streamed.error) throw streamed.error;
    return await streamed.text;
  } finally {
    await client?.disconnect();
    keepRequests(model, ran);
  }
};

const WORKS: Record<Job["kind"], Work> = { "own-loop": loop, "ai-sdk": work, mastra: workInMastra };

// Jobs

const stops = new Map<number, AbortController>();

async function serve(job: Job): Promise<void> {
  const ran = new Ran();
  const stop = new AbortController();
  stops.set(job.id, stop);
  const guard = new Guard({ url: job.url, token: job.token, program: `contract ${job.kind}`, patience: 5, onShown: () => {}, onQuestion: () => {} });
  let error: string | undefined;
  try {
    ran.answer = await guard.session(
      job.prompt,
      async (run) => run.answer(await WORKS[job.kind](run, { ...job, prompt: run.prompt }, ran), { streamed: job.how === "stream" }),
      { signal: stop.signal },
    );
  } catch (thrown) {
    if (isDenial(thrown)) ran.answer = thrown.message;
    else error = thrown instanceof Error ? thrown.message : String(thrown);
  }
  stops.delete(job.id);
  process.stdout.write(`${JSON.stringify({ id: job.id, ran, error })}\n`);
}

/** Whether hooks said no, rather than nobody could say yes. */
function isDenial(error: unknown): error is Refused {
  if (!(error instanceof Refused)) return false;
  return error.cause === undefined || (error.cause as { code?: string }).code === "session_denied";
}

// What Mastra logs of failures belongs to nobody here.
console.error = () => {};

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line) as Job;
  if (job.stop) stops.get(job.id)?.abort();
  else void serve(job);
}
