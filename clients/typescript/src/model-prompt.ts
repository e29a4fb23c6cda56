/**
 * Prompts of language models (versions 2 to 4 of the AI SDK's interface) as hooks see them, and back.
 *
 * Each message carries its place among those of the prompt. What comes back as it went is the
 * model's own message, with everything that hooks are not shown: files, thoughts, options of providers.
 */

import { isDeepStrictEqual } from "node:util";
import { type JsonObject, isObject, toJson } from "./json.js";

/** A part of a message's content; what is not known here is kept as it is. */
export interface Part {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface PromptMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly Part[];
  readonly [field: string]: unknown;
}

type Plain = JsonObject;

/** A prompt on its way to hooks, and what they left of it. */
export class JudgedPrompt {
  readonly #prompt: readonly PromptMessage[];
  readonly #sent = new Map<string, Plain>();

  constructor(prompt: readonly PromptMessage[]) {
    this.#prompt = prompt;
    prompt.forEach((message, index) => this.#describe(message, `${index}`));
  }

  /** The messages as hooks see them. */
  get messages(): Plain[] {
    return [...this.#sent.values()];
  }

  #describe(message: PromptMessage, place: string): void {
    const { role, content } = message;
    if (role !== "tool") {
      this.#keep(place, { role, ...describeContent(content) });
      return;
    }
    parts(content).forEach((part, number) => {
      if (part.type !== "tool-result") return; // answers to the SDK's own questions go with the first result
      const result = { role, tool_call_id: part["toolCallId"], content: describeOutput(part["output"]) };
      this.#keep(`${place}.${number}`, result);
    });
  }

  #keep(place: string, plain: Plain): void {
    this.#sent.set(place, { ...plain, metadata: { place } });
  }

  /** The prompt that hooks left; TypeError if it cannot be given to a model. */
  restore(left: readonly Plain[]): PromptMessage[] {
    const names = new Map<unknown, unknown>();
    for (const part of this.#prompt.flatMap((message) => parts(message.content))) {
      if (part.type === "tool-call") names.set(part["toolCallId"], part["toolName"]);
    }
    const made: PromptMessage[] = [];
    for (const plain of left) {
      const message = this.#restoreOne(plain, names, made.length === 0);
      const last = made.at(-1);
      if (message.role === "tool" && last?.role === "tool" && !this.#startsMessage(plain)) {
        made[made.length - 1] = { ...last, content: [...parts(last.content), ...parts(message.content)] };
      } else {
        made.push(message);
      }
    }
    return made;
  }

  #startsMessage(plain: Plain): boolean {
    const [index, number] = this.#find(plain);
    const own = this.#prompt[index ?? -1];
    return own !== undefined && parts(own.content).findIndex((one) => one.type === "tool-result") === number;
  }

  #find(plain: Plain): number[] {
    const { metadata } = plain;
    const place = isObject(metadata) && typeof metadata["place"] === "string" ? metadata["place"] : "";
    return this.#sent.has(place) ? place.split(".").map(Number) : [];
  }

  #restoreOne(plain: Plain, names: Map<unknown, unknown>, isFirst: boolean): PromptMessage {
    const [index, number] = this.#find(plain);
    const own = index === undefined ? undefined : this.#prompt[index];
    if (own === undefined || own.role !== plain["role"]) return writeAdded(plain, names, isFirst);
    const sent = this.#sent.get(number === undefined ? `${index}` : `${index}.${number}`);
    const isSame = isDeepStrictEqual(sent, plain);
    if (number !== undefined) {
      const result = parts(own.content)[number] as Part;
      const left = isSame ? result : { ...result, output: { type: "text", value: readText(plain["content"]) } };
      const others = this.#startsMessage(plain) ? parts(own.content).filter((one) => one.type !== "tool-result") : [];
      return { ...own, content: [...others, left] };
    }
    if (isSame) return own;
    if (own.role === "system") return { ...own, content: readText(plain["content"]) };
    return { ...own, content: [...writeContent(own, sent ?? {}, plain), ...writeCalls(own, plain)] };
  }
}

function parts(content: unknown): readonly Part[] {
  return Array.isArray(content) ? (content as Part[]) : [];
}

function describeContent(content: string | readonly Part[]): Plain {
  if (typeof content === "string") return { content };
  const shown = content.flatMap((part, number) => describePart(part, number));
  const calls = content.filter(isOwnCall).map((part) => ({
    id: part["toolCallId"],
    name: part["toolName"],
    arguments: toJson(part["input"]),
  }));
  const only = shown.length === 1 && shown[0]?.["type"] === "text" ? shown[0]["text"] : shown;
  const text = shown.length === 0 ? "" : only;
  return calls.length > 0 ? { content: text, tool_calls: calls } : { content: text };
}

/** A call that runs here; what the provider ran itself has its result beside it. */
function isOwnCall(part: Part): boolean {
  return part.type === "tool-call" && part["providerExecuted"] !== true;
}

function describePart(part: Part, number: number): Plain[] {
  if (part.type === "text") return [{ type: "text", text: part["text"] }];
  if (part.type === "reasoning" || isOwnCall(part)) return [];
  const { filename, mediaType, toolName, input, output } = part;
  // Without the data of files: hooks read text.
  return [toJson({ type: part.type, part: number, filename, mediaType, toolName, input, output }) as Plain];
}

function describeOutput(output: unknown): unknown {
  if (!isObject(output)) return String(output);
  const { type, value, reason } = output;
  if (type === "execution-denied") return String(reason ?? "denied");
  if (typeof value === "string") return value;
  if (type !== "content") return JSON.stringify(value) ?? "";
  return parts(value).map((part) =>
    part.type === "text" ? { type: "text", text: part["text"] } : { type: part.type, mediaType: part["mediaType"] ?? "" },
  );
}

function writeContent(own: PromptMessage, sent: Plain, left: Plain): Part[] {
  const kept = parts(own.content);
  const thoughts = kept.filter((part) => part.type === "reasoning");
  if (isDeepStrictEqual(sent["content"], left["content"])) {
    return kept.filter((part) => !isOwnCall(part));
  }
  if (typeof left["content"] === "string") return [...thoughts, ...writeText(left["content"])];
  if (!Array.isArray(left["content"])) throw new TypeError("a hook left a message without content");
  const texts = kept.filter((part) => part.type === "text");
  const written = left["content"].flatMap((block: unknown): Part[] => {
    if (!isObject(block)) throw new TypeError("a hook left a block that is no object");
    if (block["type"] === "text") return writeText(block["text"], texts.shift());
    const original = kept[block["part"] as number];
    if (original === undefined || original.type !== block["type"]) throw new TypeError(`a hook left a block of the type ${block["type"]}`);
    return [original];
  });
  return [...thoughts, ...written];
}

function writeText(text: unknown, own?: Part): Part[] {
  if (typeof text !== "string") throw new TypeError("a hook left a text that is none");
  return text === "" ? [] : [{ ...own, type: "text", text }];
}

function writeCalls(own: PromptMessage, left: Plain): Part[] {
  const calls = parts(own.content).filter(isOwnCall);
  return readCalls(left["tool_calls"]).map(({ id, name, input }) => {
    const call = calls.find((one) => one["toolCallId"] === id);
    if (call === undefined) throw new TypeError(`a hook left the call ${id}, which nobody made`);
    const isSame = call["toolName"] === name && isDeepStrictEqual(toJson(call["input"]), input);
    return isSame ? call : { ...call, toolName: name, input };
  });
}

/** Calls in either form: with the arguments as a value, or as OpenAI's interface has them. */
function readCalls(calls: unknown): { id: unknown; name: unknown; input: unknown }[] {
  if (!Array.isArray(calls)) return [];
  return calls.filter(isObject).map((call) => {
    if (!isObject(call["function"])) return { id: call["id"], name: call["name"], input: call["arguments"] };
    const { name, arguments: text } = call["function"];
    return { id: call["id"], name, input: JSON.parse(String(text)) as unknown };
  });
}

function readText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw new TypeError("a hook left a message without content");
  return content
    .map((block: unknown) => {
      if (isObject(block) && block["type"] === "text") return String(block["text"]);
      throw new TypeError("a hook left a block that is no text");
    })
    .join("");
}

/** A message of a hook, or a result that says that there is none. */
function writeAdded(plain: Plain, names: Map<unknown, unknown>, isFirst: boolean): PromptMessage {
  const { role, tool_call_id: toolCallId } = plain;
  const text = readText(plain["content"]);
  if (typeof toolCallId === "string") {
    const toolName = names.get(toolCallId) ?? "";
    const part = { type: "tool-result", toolCallId, toolName, output: { type: "text", value: text } };
    return { role: "tool", content: [part] };
  }
  if (role === "system" && isFirst) return { role, content: text };
  // Not every model takes a system message in the middle of a conversation.
  return { role: role === "assistant" ? role : "user", content: [{ type: "text", text }] };
}
