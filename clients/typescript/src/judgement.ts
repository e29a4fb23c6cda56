/** What the server says about an event, read so that nothing unclear is a yes. */

import { Unanswered } from "./connection.js";
import { type JsonObject, isObject } from "./json.js";

export type EventName = "prompt" | "request" | "reply" | "call" | "result" | "answer";

/** What hooks want the model to read. */
export interface Note {
  readonly text: string;
  /** The role of the message that it becomes. */
  readonly role: string;
  /** Whether it stays in the conversation, or is for the next request only. */
  readonly lasting: boolean;
}

/** A message for the person at the program. */
export interface Shown {
  readonly text: string;
  readonly level: string;
  readonly source: string;
}

/** What a person is asked. */
export interface Question {
  /** Empty until the question is at the store; `amplifier approvals allow ID` answers it. */
  readonly id: string;
  readonly prompt: string;
  readonly options: readonly string[];
  readonly hook: string;
  readonly secondsLeft: number | null;
}

export interface Judgement {
  readonly decision: "allow" | "deny" | "pending";
  readonly reason: string;
  readonly hook: string;
  readonly changed: boolean;
  readonly notes: readonly Note[];
  readonly shown: readonly Shown[];
  readonly questions: readonly Question[];
  /** The answer as it came: `input`, `text`, `messages`, `calls`, `output`. */
  readonly body: JsonObject;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isCall = (one: unknown): boolean =>
  isObject(one) && isText(one["id"]) && isText(one["name"]) && "arguments" in one;

const NEEDED: Record<EventName, Record<string, (value: unknown) => boolean>> = {
  prompt: { text: isText },
  request: { messages: (value) => Array.isArray(value) && value.every(isObject) },
  reply: { text: isText, calls: (value) => Array.isArray(value) && value.every(isCall) },
  call: { input: isObject },
  result: {}, // `output` is needed only where somebody goes on with it
  answer: { text: isText },
};

/** The judgement of this event in an answer with status 200; Unanswered if it is not one. */
export function readJudgement(body: JsonObject, event: EventName, id: string): Judgement {
  const { decision } = body;
  if (body["id"] !== id || body["event"] !== event) {
    throw new Unanswered(`the judge answered about ${body["event"]} ${body["id"]}, not about ${event} ${id}`);
  }
  if (decision !== "allow" && decision !== "deny" && decision !== "pending") {
    throw new Unanswered(`the judge decided ${JSON.stringify(decision)}, which this client does not know`);
  }
  for (const [field, isGood] of Object.entries(decision === "allow" ? NEEDED[event] : {})) {
    if (!isGood(body[field])) {
      throw new Unanswered(`the judge allowed ${event} ${id} without saying what: ${field} is missing or wrong`);
    }
  }
  return {
    decision,
    reason: readText(body["reason"]),
    hook: readText(body["hook"]),
    changed: body["changed"] !== false,
    notes: readList(body["notes"], readNote),
    shown: readShown(body),
    questions: readList(body["approvals"], readQuestion),
    body,
  };
}

/** The messages for the person in any answer. */
export function readShown(body: JsonObject): Shown[] {
  return readList(body["shown"], (one) => ({
    text: readText(one["text"]),
    level: readText(one["level"]) || "info",
    source: readText(one["source"]),
  }));
}

function readNote(one: JsonObject): Note {
  return { text: readText(one["text"]), role: readText(one["role"]) || "system", lasting: one["lasting"] !== false };
}

function readQuestion(one: JsonObject): Question {
  const { options, seconds_left: left } = one;
  return {
    id: readText(one["id"]),
    prompt: readText(one["prompt"]),
    options: Array.isArray(options) ? options.filter((option) => typeof option === "string") : [],
    hook: readText(one["hook"]),
    secondsLeft: typeof left === "number" ? left : null,
  };
}

function readText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function readList<T>(value: unknown, read: (one: JsonObject) => T): T[] {
  return Array.isArray(value) ? value.filter(isObject).map(read) : [];
}
