/** Language models of the AI SDK's interface, with hooks before each request and behind each reply. */

import { isDeepStrictEqual } from "node:util";
import { isObject, toJson } from "./json.js";
import { JudgedPrompt, type Part, type PromptMessage } from "./model-prompt.js";
import { type ModelCall, type ModelReply, Refused, type Run, currentRun } from "./run.js";

/** A language model of version 2, 3 or 4 of the interface. */
export interface Model {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

interface Options {
  readonly prompt: readonly PromptMessage[];
  readonly tools?: readonly { readonly name: string }[];
}

interface Generated {
  readonly content: readonly Part[];
  readonly finishReason?: unknown;
  readonly usage?: unknown;
}

/**
 * The same model, judged: each request before it goes out, each reply before anybody sees it.
 *
 * A reply that streams is held back until it was judged. Without a run, it belongs to that of the
 * `guard.session(...)` it is called from; outside of one it refuses.
 */
export function governedModel<M extends Model>(model: M, run?: Run): M {
  const inner = model as unknown as {
    doGenerate(options: Options): PromiseLike<Generated>;
    doStream(options: Options): PromiseLike<{ stream: ReadableStream<Part> }>;
  };
  const judged = {
    async doGenerate(options: Options): Promise<Generated> {
      const judge = new ModelJudge(model, run);
      const generated = await inner.doGenerate(await judge.request(options));
      return { ...generated, content: await judge.reply(generated) };
    },
    async doStream(options: Options): Promise<{ stream: ReadableStream<Part> }> {
      const judge = new ModelJudge(model, run);
      const streamed = await inner.doStream(await judge.request(options));
      const parts = await readAll(streamed.stream);
      const left = await judge.reply(gather(parts));
      return { ...streamed, stream: ReadableStream.from(rewrite(parts, left)) as ReadableStream<Part> };
    },
  };
  return new Proxy(model, {
    get(target, name) {
      if (name === "doGenerate" || name === "doStream") return judged[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** The run that something belongs to; Refused without one. */
export function findRun(run: Run | undefined, what: string): Run {
  const found = run ?? currentRun();
  if (found === undefined) throw new Refused(`${what} was called outside of guard.session(...)`);
  return found;
}

class ModelJudge {
  readonly #run: Run;
  readonly #about: { readonly model: string; readonly provider: string };
  #sent = performance.now();

  constructor(model: Model, run: Run | undefined) {
    this.#run = findRun(run, `The model ${model.modelId}`);
    this.#about = { model: model.modelId, provider: model.provider };
  }

  async request(options: Options): Promise<Options> {
    const prompt = new JudgedPrompt(options.prompt);
    const tools = options.tools?.map((tool) => tool.name);
    const left = await this.#run.messages(prompt.messages, { ...this.#about, tools });
    this.#sent = performance.now();
    try {
      return { ...options, prompt: prompt.restore(left) };
    } catch (error) {
      throw new Refused(`The request cannot be sent: ${(error as Error).message}`, { cause: error });
    }
  }

  /** The content that hooks left of a reply. */
  async reply({ content, usage, finishReason }: Generated): Promise<readonly Part[]> {
    const text = readTexts(content);
    const calls = readCalls(content);
    const said: ModelReply = {
      text,
      calls,
      ...this.#about,
      usage: readUsage(usage),
      finishReason: isObject(finishReason) ? String(finishReason["unified"]) : (finishReason as string | undefined),
      durationMs: Math.round(performance.now() - this.#sent),
    };
    const left = await this.#run.reply(said);
    const texts = left.text === text ? content : replaceTexts(content, left.text);
    return isDeepStrictEqual(left.calls, calls) ? texts : replaceCalls(texts, left.calls);
  }
}

/** The call that the SDK would make; nothing of what the provider has run itself, or is no JSON. */
function readCall(part: Part): ModelCall | undefined {
  const { toolCallId: id, toolName: name, input } = part;
  if (part.type !== "tool-call" || part["providerExecuted"] === true) return undefined;
  try {
    const given: unknown = typeof input === "string" ? JSON.parse(input || "{}") : toJson(input);
    return isObject(given) ? { id: String(id), name: String(name), arguments: given } : undefined;
  } catch {
    return undefined;
  }
}

function readCalls(content: readonly Part[]): ModelCall[] {
  return content.map(readCall).filter((call) => call !== undefined);
}

function readTexts(content: readonly Part[]): string {
  return content.map((part) => (part.type === "text" ? String(part["text"]) : "")).join("");
}

function replaceTexts(content: readonly Part[], text: string): Part[] {
  const others = content.filter((part) => part.type !== "text");
  const at = Math.max(0, content.findIndex((part) => part.type === "text"));
  return text === "" ? others : [...others.slice(0, at), { type: "text", text }, ...others.slice(at)];
}

function replaceCalls(content: readonly Part[], calls: readonly ModelCall[]): Part[] {
  const own = content.filter((part) => readCall(part) !== undefined);
  const made = calls.map((call): Part => {
    const part = own.find((one) => one["toolCallId"] === call.id);
    if (part !== undefined && isDeepStrictEqual(readCall(part), call)) return part;
    const input = JSON.stringify(call.arguments);
    return { ...part, type: "tool-call", toolCallId: call.id, toolName: call.name, input };
  });
  return [...content.filter((part) => !own.includes(part)), ...made];
}

function readUsage(usage: unknown): ModelReply["usage"] {
  if (!isObject(usage)) return undefined;
  const count = (value: unknown) => (isObject(value) ? value["total"] : value);
  const input = count(usage["inputTokens"]);
  const output = count(usage["outputTokens"]);
  if (typeof input !== "number" || typeof output !== "number") return undefined;
  return { input_tokens: input, output_tokens: output, total_tokens: input + output };
}

async function readAll(stream: ReadableStream<Part>): Promise<Part[]> {
  const parts: Part[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

/** A streamed reply as one that came whole. */
function gather(parts: readonly Part[]): Generated {
  const content: Part[] = [];
  const texts = new Map<unknown, string>();
  for (const part of parts) {
    if (part.type === "text-delta") texts.set(part["id"], (texts.get(part["id"]) ?? "") + String(part["delta"]));
    if (part.type === "text-start") content.push({ type: "text", id: part["id"] });
    if (part.type === "tool-call") content.push(part);
  }
  const finish = parts.find((part) => part.type === "finish");
  return {
    content: content.map((part) => (part.type === "text" ? { ...part, text: texts.get(part["id"]) ?? "" } : part)),
    usage: finish?.["usage"],
    finishReason: finish?.["finishReason"],
  };
}

const CONTENT = /^(text|tool-input)-(start|delta|end)$/;

/** The parts of a stream with the content that hooks left; as they came, if that is all of it. */
function rewrite(parts: readonly Part[], left: readonly Part[]): readonly Part[] {
  if (isDeepStrictEqual(gather(parts).content, left)) return parts;
  const others = parts.filter((part) => !CONTENT.test(part.type) && part.type !== "tool-call");
  const end = others.findIndex((part) => part.type === "finish");
  const at = end < 0 ? others.length : end;
  return [...others.slice(0, at), ...left.flatMap(streamPart), ...others.slice(at)];
}

function streamPart(part: Part, number: number): Part[] {
  if (part.type !== "text") return [part];
  const id = `judged-${number}`;
  return [
    { type: "text-start", id },
    { type: "text-delta", id, delta: part["text"] },
    { type: "text-end", id },
  ];
}
