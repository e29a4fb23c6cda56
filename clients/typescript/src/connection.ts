/** Requests to the server of docs/judging.md, sent again as it says. */

import { type JsonObject, isObject, parseAnswer } from "./json.js";

/** There is no answer that could be a yes; the message says why. */
export class Unanswered extends Error {
  override readonly name = "Unanswered";
  /** The `code` of the server's refusal, if it answered with one. */
  readonly code: string;

  constructor(message: string, code = "", options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface Reply {
  readonly body: JsonObject;
  /** Whether this is the answer to somebody else's request, with the same id. */
  readonly isOfAnother: boolean;
}

export interface Sending {
  /** The status of a good answer. */
  readonly wanted: readonly number[];
  /** How many seconds one attempt may take. */
  readonly limit: number;
  /** At most how many seconds after the first attempt a last one may begin. */
  readonly patience?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const AGAIN = new Set([408, 429, 500, 503]);

export class Connection {
  readonly #base: string;
  readonly #token: string;
  readonly #patience: number;
  /** Whether the server did not answer for as long as we are patient; then it is asked once only. */
  #isGone = false;

  constructor(url: string, token: string, patience: number) {
    this.#base = `${checkUrl(url)}/api/v1/judge`;
    this.#token = checkToken(token);
    this.#patience = patience;
  }

  get(path: string, sending: Sending): Promise<Reply> {
    return this.#send(path, {}, sending);
  }

  post(path: string, body: JsonObject, sending: Sending): Promise<Reply> {
    return this.#send(path, { method: "POST", body: JSON.stringify(body) }, sending);
  }

  async #send(path: string, request: RequestInit, sending: Sending): Promise<Reply> {
    const patience = this.#isGone ? 0 : Math.min(this.#patience, sending.patience ?? Infinity);
    const last = Date.now() + patience * 1000;
    for (let attempt = 1; ; attempt += 1) {
      const pause = Math.min(100 * 2 ** attempt, 2000);
      const outcome = await this.#try(path, request, sending, attempt);
      if (outcome instanceof Retry) {
        const wait = outcome.after ?? pause;
        if (Date.now() + wait > last) {
          this.#isGone ||= outcome.error.cause !== undefined && sending.patience === undefined;
          throw outcome.error;
        }
        await sleep(wait, sending.signal);
      } else {
        return outcome;
      }
    }
  }

  async #try(
    path: string,
    request: RequestInit,
    sending: Sending,
    attempt: number,
  ): Promise<Reply | Retry> {
    const limit = AbortSignal.timeout(Math.ceil(sending.limit * 1000));
    const signal = sending.signal ? AbortSignal.any([sending.signal, limit]) : limit;
    let response: Response;
    let text: string;
    try {
      response = await fetch(this.#base + path, {
        ...request,
        headers: { Authorization: `Bearer ${this.#token}`, "Content-Type": "application/json" },
        redirect: "error",
        signal,
      });
      text = await response.text();
      this.#isGone = false;
    } catch (error) {
      if (sending.signal?.aborted) throw sending.signal.reason;
      return new Retry(new Unanswered(`the judge did not answer: ${explain(error)}`, "", { cause: error }));
    }
    if (sending.wanted.includes(response.status)) {
      const isOfAnother = attempt === 1 && response.headers.get("Idempotency-Replayed") === "true";
      return { body: read(text), isOfAnother };
    }
    const refused = describeRefusal(response.status, text);
    return AGAIN.has(response.status) ? new Retry(refused, readRetryAfter(response)) : fail(refused);
  }
}

class Retry {
  constructor(
    readonly error: Unanswered,
    readonly after?: number,
  ) {}
}

function fail(error: Error): never {
  throw error;
}

function read(text: string): JsonObject {
  try {
    return parseAnswer(text);
  } catch (error) {
    throw new Unanswered(`the answer of the judge cannot be read: ${explain(error)}`, "", { cause: error });
  }
}

function describeRefusal(status: number, text: string): Unanswered {
  try {
    const { error } = JSON.parse(text) as JsonObject;
    if (isObject(error) && typeof error["message"] === "string") {
      return new Unanswered(error["message"], String(error["code"] ?? ""));
    }
  } catch {
    // A proxy in between speaks for itself.
  }
  return new Unanswered(`the judge answered with the status ${status}`);
}

function readRetryAfter(response: Response): number {
  const said = response.headers.get("Retry-After") ?? "";
  const seconds = /^\d+$/.test(said) ? Number(said) : (Date.parse(said) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? 1000 : Math.max(0, seconds * 1000);
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "not in time";
  return error.cause instanceof Error ? explain(error.cause) : error.message;
}

export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
  });
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

function checkUrl(url: string): string {
  let parts: URL;
  try {
    parts = new URL(url);
  } catch {
    throw new TypeError(`The address of the judge is like http://127.0.0.1:8412, not ${JSON.stringify(url)}`);
  }
  const isPrivate = parts.protocol === "https:" || (parts.protocol === "http:" && LOOPBACK.test(parts.hostname));
  if (!isPrivate) {
    throw new TypeError(`${parts.origin} would leave this machine without TLS: use https`);
  }
  if (parts.username || parts.password || parts.search || parts.hash || parts.pathname !== "/") {
    throw new TypeError("The address of the judge is like https://host:port, without a path or a secret");
  }
  return parts.origin;
}

function checkToken(token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new TypeError("The token of the judge has characters that no token has: copy it again");
  }
  return token;
}
