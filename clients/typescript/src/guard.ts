/** The hooks of a server in front of an agent. */

import { AsyncLocalStorage } from "node:async_hooks";
import { basename } from "node:path";
import { Connection } from "./connection.js";
import { type Question, type Shown } from "./judgement.js";
import { type CallOptions, NotRun, Refused, Run, type Tool, currentRun } from "./run.js";
import { type EndReason, Session } from "./session.js";

export interface GuardOptions {
  /** Where `amplifier judge` or `amplifier serve` listens; AMPLIFIER_JUDGE_URL unless given. */
  readonly url?: string | undefined;
  /** AMPLIFIER_JUDGE_TOKEN unless given. */
  readonly token?: string | undefined;
  /** What runs the agent, in words, for records and questions; the name of the script unless given. */
  readonly program?: string | undefined;
  /** After how many seconds without a sign of life the server ends the session. */
  readonly lease?: number | undefined;
  /** For how many seconds requests that nobody answered are sent again. */
  readonly patience?: number | undefined;
  /** Shows a message of hooks to the person at the program; on the standard error unless given. */
  readonly onShown?: ((message: Shown) => void) | undefined;
  /** Hears that a person is asked, and what; on the standard error unless given. */
  readonly onQuestion?: ((question: Question) => void) | undefined;
}

export interface SessionOptions {
  /**
   * Whether each request to the model goes through `run.messages` (or a governed model). Say false
   * if none does: what hooks want the model to read is then in `run.takeNotes()`.
   */
  readonly requests?: boolean | undefined;
  /** Stops the session: what still waits does not run, and it ends as stopped by its person. */
  readonly signal?: AbortSignal | undefined;
}

interface Shared {
  readonly guard: Guard;
  readonly options: SessionOptions;
  session?: Promise<Session>;
  isOver: boolean;
}

const conversations = new AsyncLocalStorage<Shared>();

export class Guard {
  readonly #connection: Connection;
  readonly #options: GuardOptions;
  readonly #runs = new WeakSet<Run>();

  constructor(options: GuardOptions = {}) {
    const url = options.url ?? process.env["AMPLIFIER_JUDGE_URL"];
    const token = options.token ?? process.env["AMPLIFIER_JUDGE_TOKEN"];
    if (!url || !token) {
      throw new TypeError(
        "Nobody can judge: start `amplifier judge` and set AMPLIFIER_JUDGE_URL and AMPLIFIER_JUDGE_TOKEN, " +
          "or give url and token",
      );
    }
    this.#connection = new Connection(url, token, options.patience ?? 60);
    this.#options = options;
  }

  /** One turn of an agent: what `work` returns. Refused if hooks deny the session or the prompt. */
  async session<T>(
    prompt: string | undefined,
    work: (run: Run) => T | PromiseLike<T>,
    options: SessionOptions = {},
  ): Promise<T> {
    const run = await this.open(prompt, options);
    const stop = () => void run.end("user_exit");
    options.signal?.addEventListener("abort", stop, { once: true });
    try {
      options.signal?.throwIfAborted();
      const made = await run.enter(() => work(run));
      await run.end();
      return made;
    } catch (error) {
      await run.end(options.signal?.aborted ? "user_exit" : "error");
      throw error;
    } finally {
      options.signal?.removeEventListener("abort", stop);
    }
  }

  /** The same for a turn that outlives a function, such as one that streams: call `run.end()`. */
  async open(prompt: string | undefined, options: SessionOptions = {}): Promise<Run> {
    const shared = this.#findShared();
    const session = await (shared === undefined ? this.#open(options) : this.#join(shared));
    try {
      const run = await Run.begin(session, prompt, { endsSession: shared === undefined, signal: options.signal });
      this.#runs.add(run);
      return run;
    } catch (error) {
      const reason: EndReason = options.signal?.aborted ? "user_exit" : "complete";
      if (shared === undefined) await session.end(reason);
      throw error;
    }
  }

  /** Make all sessions that `work` begins turns of one, with one trail. */
  async conversation<T>(work: () => T | PromiseLike<T>, options: SessionOptions = {}): Promise<T> {
    const shared: Shared = { guard: this, options, isOver: false };
    let reason: EndReason = "error";
    try {
      const made = await conversations.run(shared, work);
      reason = "complete";
      return made;
    } finally {
      shared.isOver = true;
      const session = await shared.session?.catch(() => undefined);
      await session?.end(options.signal?.aborted ? "user_exit" : reason);
    }
  }

  /** `run.call` of the session that this code was called from; without one, nothing runs. */
  async call<A extends object, T>(
    name: string,
    args: A | string,
    tool: Tool<A, T>,
    options: CallOptions = {},
  ): Promise<T | NotRun> {
    const run = currentRun();
    if (run !== undefined && this.#runs.has(run)) return run.call(name, args, tool, options);
    return new NotRun(`${name} was not run: it was called outside of guard.session(...) of this guard`);
  }

  #findShared(): Shared | undefined {
    const shared = conversations.getStore();
    return shared?.guard === this && !shared.isOver ? shared : undefined;
  }

  async #join(shared: Shared): Promise<Session> {
    try {
      return await (shared.session ??= this.#open(shared.options));
    } catch (error) {
      delete shared.session; // the next turn may find the server again
      throw error;
    }
  }

  async #open(options: SessionOptions): Promise<Session> {
    const { lease = 60, program, onShown = print, onQuestion = printQuestion } = this.#options;
    try {
      return await Session.open(this.#connection, {
        program: nameProgram(program),
        requests: options.requests ?? true,
        lease,
        signal: options.signal,
        show: onShown,
        ask: (questions) => questions.forEach(onQuestion),
      });
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      throw new Refused(`No session: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
}

function nameProgram(given: string | undefined): string {
  const name = given ?? basename(process.argv[1] ?? "");
  return name.replace(/[^A-Za-z0-9 ._/@+-]+/g, "-").slice(0, 60) || "node";
}

function print(message: Shown): void {
  console.error(`[${message.level}] ${message.source}: ${message.text}`);
}

function printQuestion(question: Question): void {
  const how = question.id ? ` (amplifier approvals allow ${question.id})` : "";
  console.error(`Waiting for a person: ${question.prompt}${how}`);
}
