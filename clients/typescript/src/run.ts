/** One turn of an agent: its prompt, its requests, its tool calls and its answer. */

import { AsyncLocalStorage } from "node:async_hooks";
import { type JsonObject, findNotJson, isObject, toJson } from "./json.js";
import { Unanswered } from "./connection.js";
import { type EventName, type Judgement, type Note } from "./judgement.js";
import { type EndReason, type Session } from "./session.js";

/** A prompt, a request, a reply, an answer or a result was denied, or nobody could judge it. */
export class Refused extends Error {
  override readonly name = "Refused";
}

/** What the model reads in place of a result when a call did not run: `String(notRun)` is the reason. */
export class NotRun extends Error {
  override readonly name = "NotRun";
  /** The hook that denied it, if one did. */
  readonly hook: string;

  constructor(reason: string, hook = "") {
    super(reason);
    this.hook = hook;
  }

  override toString(): string {
    return this.message;
  }

  toJSON(): string {
    return this.message;
  }
}

/** What a function learns besides its arguments. */
export interface CallContext {
  readonly id: string;
  /** Whether hooks or people changed the arguments. */
  readonly changed: boolean;
  readonly signal: AbortSignal | undefined;
  /** Leave the function: the call did not run after all, and the model reads why. */
  readonly refuse: (why: string) => never;
}

export interface CallOptions {
  /** The id that the model gave the call. */
  readonly id?: string | undefined;
  /** Where it runs, if elsewhere than in the folder of the server. */
  readonly cwd?: string | undefined;
  /** Gives up waiting; a call that was not started by then does not run. */
  readonly signal?: AbortSignal | undefined;
}

/** What runs if nobody objects. */
export type Tool<A, T> = (args: A, context: CallContext) => T | PromiseLike<T>;

/** A call that a model wants to make. */
export interface ModelCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

/** What is known of a request besides its messages. */
export interface RequestOptions {
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  /** The names of the tools that the model may call. */
  readonly tools?: readonly string[] | undefined;
}

/** A reply of a model. */
export interface ModelReply {
  readonly text: string;
  readonly calls?: readonly ModelCall[] | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly usage?: { input_tokens?: number; output_tokens?: number; total_tokens?: number } | undefined;
  readonly finishReason?: string | undefined;
  readonly durationMs?: number | undefined;
}

/** Leaves one call, and no other that it was made in. */
class Left {
  constructor(
    readonly id: string,
    readonly why: string,
  ) {}
}

const running = new AsyncLocalStorage<Run>();

/** The run whose `guard.session(prompt, work)` this code was called from. */
export function currentRun(): Run | undefined {
  return running.getStore();
}

interface Turn {
  readonly endsSession: boolean;
  readonly signal?: AbortSignal | undefined;
}

export class Run {
  readonly #session: Session;
  readonly #turn: Turn;
  #isOver = false;
  #prompt = "";

  private constructor(session: Session, turn: Turn) {
    this.#session = session;
    this.#turn = turn;
  }

  /** @internal Begin a turn of a session; Refused if hooks deny its prompt. */
  static async begin(session: Session, prompt: string | undefined, turn: Turn): Promise<Run> {
    const run = new Run(session, turn);
    if (prompt !== undefined) run.#prompt = await run.#judgeText("prompt", { text: prompt });
    return run;
  }

  /** The prompt as hooks left it. */
  get prompt(): string {
    return this.#prompt;
  }

  /** The id of the session, under which its trail is found. */
  get session(): string {
    return this.#session.id;
  }

  /** @internal Call work with this run as the current one. */
  enter<T>(work: () => T): T {
    return running.run(this, work);
  }

  /**
   * The messages to send: yours, and what hooks add to them at places that models accept.
   *
   * Takes those of OpenAI's chat completions and responses and of Anthropic's messages. What hooks
   * add comes again at the next request by itself: keep your own list. Refused if hooks deny it.
   */
  async messages<T extends object>(
    messages: readonly T[],
    options: RequestOptions = {},
  ): Promise<T[]> {
    if (!this.#session.seesRequests) {
      throw new TypeError("This session was opened with requests: false; add what run.takeNotes() has yourself");
    }
    return (await this.#judge("request", { messages, ...options })).body["messages"] as T[];
  }

  /** With `requests: false`: what hooks want the model to read. Add it behind the results of all calls. */
  takeNotes(): Note[] {
    return this.#session.takeNotes();
  }

  /** What hooks leave of a reply of the model; Refused if they deny it. */
  async reply(reply: ModelReply): Promise<{ text: string; calls: ModelCall[] }> {
    const { finishReason, durationMs, ...same } = reply;
    const fields = { ...same, finish_reason: finishReason, duration_ms: durationMs };
    const { body } = await this.#judge("reply", fields);
    return { text: body["text"] as string, calls: body["calls"] as ModelCall[] };
  }

  /**
   * What the function returns for the arguments as hooks left them, or what hooks made of it.
   *
   * `args` may be the JSON text that a model wrote. A call that is denied, or that nobody could
   * judge, does not run and returns a NotRun, for the model to read. What the function throws is
   * thrown; Refused if the result could not be judged.
   */
  async call<A extends object, T>(
    name: string,
    args: A | string,
    tool: Tool<A, T>,
    options: CallOptions = {},
  ): Promise<T | NotRun> {
    const signal = this.#join(options.signal);
    signal?.throwIfAborted();
    const input = readArguments(name, args);
    if (input instanceof NotRun) return input;
    const id = this.#session.takeId(options.id || "call");
    let judgement: Judgement;
    try {
      judgement = await this.#ask("call", id, { tool: name, input, cwd: options.cwd }, signal);
    } catch (error) {
      const why = signal?.aborted ? "the program stopped waiting" : explain(error);
      this.#session.noteUnrun(id, why);
      if (signal?.aborted) throw signal.reason;
      return new NotRun(`${name} was not run: ${why}`);
    }
    if (judgement.decision !== "allow") return new NotRun(judgement.reason || `${name} was denied`, judgement.hook);
    return this.#use(name, id, tool, judgement, signal);
  }

  async #use<A, T>(
    name: string,
    id: string,
    tool: Tool<A, T>,
    judgement: Judgement,
    signal: AbortSignal | undefined,
  ): Promise<T | NotRun> {
    const began = performance.now();
    let value: T;
    try {
      const { changed, body } = judgement;
      value = await tool(body["input"] as A, { id, changed, signal, refuse: (why) => leave(id, why) });
    } catch (error) {
      if (error instanceof Left && error.id === id) {
        await this.#session.reportUnrun(id, error.why);
        return new NotRun(`${name} was not run: ${error.why}`);
      }
      await this.#report(name, id, { error: describe(error) }, began, error);
      throw error;
    }
    const result = await this.#report(name, id, { output: toJson(value) }, began);
    // What was judged is what the program goes on with; only JSON has no undefined.
    return (value === undefined && !result.changed ? value : result.body["output"]) as T;
  }

  /** Report what became of a call; Refused if that is not judged, or withholds an exception. */
  async #report(
    name: string,
    id: string,
    outcome: JsonObject,
    began: number,
    cause?: unknown,
  ): Promise<Judgement> {
    const fields = { call: id, ...outcome, duration_ms: Math.round(performance.now() - began) };
    let judgement: Judgement;
    try {
      judgement = await this.#session.judge("result", this.#session.takeId(`${id}:result`), fields);
      if (cause === undefined && judgement.body["output"] === undefined) throw new Error("there is no output");
    } catch (error) {
      throw new Refused(`${name} ran, and its result could not be judged: ${explain(error)}`, { cause: cause ?? error });
    }
    if (cause === undefined || judgement.decision === "allow") return judgement;
    throw new Refused(judgement.reason || `The result of ${name} was denied`, { cause });
  }

  /** The agent's last words as hooks left them; Refused if they are denied. */
  async answer(text: string, options: { streamed?: boolean } = {}): Promise<string> {
    return this.#judgeText("answer", { text, ...options });
  }

  async #judgeText(event: "prompt" | "answer", fields: JsonObject): Promise<string> {
    return (await this.#judge(event, fields)).body["text"] as string;
  }

  async #judge(event: "prompt" | "request" | "reply" | "answer", fields: JsonObject): Promise<Judgement> {
    let judgement: Judgement;
    try {
      judgement = await this.#ask(event, this.#session.takeId(event), fields, this.#turn.signal);
    } catch (error) {
      this.#turn.signal?.throwIfAborted();
      throw new Refused(`The ${event} could not be judged: ${explain(error)}`, { cause: error });
    }
    if (judgement.decision === "allow") return judgement;
    throw new Refused(judgement.reason || `The ${event} was denied`);
  }

  async #ask(
    event: EventName,
    id: string,
    fields: JsonObject,
    signal: AbortSignal | undefined,
  ): Promise<Judgement> {
    const judgement = await untilAborted(this.#session.judge(event, id, fields), signal);
    if (this.#isOver || this.#session.hasEnded) throw new Unanswered("the run has ended");
    return judgement;
  }

  #join(signal: AbortSignal | undefined): AbortSignal | undefined {
    const known = [signal, this.#turn.signal].filter((one) => one !== undefined);
    return known.length > 1 ? AbortSignal.any(known) : known[0];
  }

  /** End the turn, and the session with it unless that is a conversation's; what waits does not run. */
  async end(reason: EndReason = "complete"): Promise<void> {
    this.#isOver = true;
    if (this.#turn.endsSession) await this.#session.end(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

function leave(id: string, why: string): never {
  throw new Left(id, why);
}

function readArguments(name: string, args: object | string): JsonObject | NotRun {
  let given: unknown = args;
  if (typeof args === "string") {
    try {
      given = JSON.parse(args || "{}");
    } catch (error) {
      return new NotRun(`Not run: the arguments of ${name} are not JSON (${explain(error)})`);
    }
  }
  if (!isObject(given)) return new NotRun(`Not run: the arguments of ${name} must be an object`);
  const problem = findNotJson(given);
  if (problem === undefined) return given;
  return new NotRun(`Not run: the arguments of ${name} cannot be judged as they are: ${problem}, which is no JSON`);
}

/** What a promise comes to, unless the signal is aborted first. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    const done = await Promise.race([work, stopped]);
    signal.throwIfAborted();
    return done;
  } finally {
    signal.removeEventListener("abort", stop);
    work.catch(() => {}); // nobody waits for it any more
  }
}

function describe(error: unknown): JsonObject {
  if (error instanceof Error) return { message: error.message, type: error.name };
  return { message: String(error) };
}

function explain(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
