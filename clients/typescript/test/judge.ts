/** A small server that speaks docs/judging.md: what it answers is what a test says. */

import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { Guard, type GuardOptions, type Question, type Shown } from "../src/index.js";

export type Body = Record<string, unknown>;

/** What is said about an event: fields of the answer, or how the server fails. */
export type Said =
  | Body
  | { fail: (response: ServerResponse) => void }
  | undefined;

export class Judge {
  readonly events: Body[] = [];
  /** The session of each event. */
  readonly sessions: string[] = [];
  readonly renewals: string[] = [];
  readonly ends: Body[] = [];
  readonly openings: Body[] = [];
  readonly headers: IncomingMessage["headers"][] = [];
  readonly polls: string[] = [];
  readonly shown: Shown[] = [];
  readonly questions: Question[] = [];
  /** What is said about an event; nothing is an allow of what was sent. */
  say: (event: Body) => Said = () => undefined;
  /** What a poll is told; nothing is the answer to the event itself, now allowed. */
  poll: (event: Body, times: number) => Said = () => undefined;
  opening: Body = {};
  /** How a renewal is answered, if not well. */
  renew: ((response: ServerResponse) => void) | undefined;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      let text = "";
      request.setEncoding("utf8");
      request.on("data", (piece: string) => (text += piece));
      request.on("end", () => this.#answer(request, response, text === "" ? {} : (JSON.parse(text) as Body)));
    });
  }

  static async start(): Promise<Judge> {
    const judge = new Judge();
    await new Promise<void>((resolve) => judge.#server.listen(0, "127.0.0.1", resolve));
    return judge;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  guard(options: GuardOptions = {}): Guard {
    return new Guard({
      url: this.url,
      token: "t0ken",
      patience: 0.5,
      onShown: (one) => this.shown.push(one),
      onQuestion: (one) => this.questions.push(one),
      ...options,
    });
  }

  /** The events of one kind. */
  of(kind: string): Body[] {
    return this.events.filter((one) => one["event"] === kind);
  }

  /** The events of each session, in the order in which they began. */
  bySession(): string[][] {
    const found = this.openings.map((_, index) => `s${index + 1}`);
    const kinds = this.events.map((one) => String(one["event"]));
    return found.map((session) => kinds.filter((_, index) => this.sessions[index] === session));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #answer(request: IncomingMessage, response: ServerResponse, body: Body): void {
    this.headers.push(request.headers);
    const url = new URL(request.url ?? "", "http://judge");
    const [, , , , , session, part, id] = url.pathname.split("/");
    if (session === undefined) {
      this.openings.push(body);
      const opened = { session: `s${this.openings.length}`, program: body["program"], status: "open", lease: 60, deadline: 2, shown: [] };
      send(response, 201, { ...opened, ...this.opening });
    } else if (part === "end") {
      this.ends.push(body);
      send(response, 200, { session, status: "ended", shown: [], unreported: [] });
    } else if (part === "renewal") {
      this.renewals.push(session);
      if (this.renew) this.renew(response);
      else send(response, 200, { session, status: "open" });
    } else if (request.method === "POST") {
      this.events.push(body);
      this.sessions.push(session);
      this.#send(response, body, this.say(body));
    } else {
      const event = this.events.find((one) => one["id"] === decodeURIComponent(id ?? ""));
      this.polls.push(url.search);
      const times = this.polls.length;
      if (event === undefined) send(response, 404, { error: { code: "no_event", message: "there is none" } });
      else this.#send(response, event, this.poll(event, times));
    }
  }

  #send(response: ServerResponse, event: Body, said: Said): void {
    if (said !== undefined && typeof said["fail"] === "function") said["fail"](response);
    else send(response, 200, { ...allow(event), ...said });
  }
}

/** The answer that allows an event as it is. */
export function allow(event: Body): Body {
  const same: Body = { id: event["id"], event: event["event"], decision: "allow", reason: "", hook: "", changed: false };
  const { input, text, messages, calls = [] } = event;
  const rest = { notes: [], shown: [], approvals: [] };
  switch (event["event"]) {
    case "call":
      return { ...same, input, ...rest };
    case "request":
      return { ...same, messages, ...rest };
    case "reply":
      return { ...same, text, calls, ...rest };
    case "result":
      return { ...same, output: event["output"] ?? null, ...rest };
    default:
      return { ...same, text, ...rest };
  }
}

export function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

/** Says no to one tool. */
export function deny(tool: string, reason = "not on my machine"): (event: Body) => Said {
  return (event) => (event["tool"] === tool ? { decision: "deny", reason, hook: "policy", input: undefined } : undefined);
}

/** A tool that records what it ran with. */
export function recorder<T>(make: (args: Body) => T | Promise<T>): { ran: Body[]; tool: (args: Body) => T | Promise<T> } {
  const ran: Body[] = [];
  return {
    ran,
    tool: (args) => {
      ran.push(args);
      return make(args);
    },
  };
}
