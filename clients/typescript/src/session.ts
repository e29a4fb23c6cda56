/** One session at the server: its events, its lease, and what has not been reported. */

import { randomUUID } from "node:crypto";
import { type Connection, type Sending, Unanswered, sleep } from "./connection.js";
import { type JsonObject } from "./json.js";
import { type EventName, type Judgement, type Note, type Question, type Shown, readJudgement, readShown } from "./judgement.js";

export type EndReason = "complete" | "error" | "user_exit";

export interface Opening {
  readonly program: string;
  readonly requests: boolean;
  readonly lease: number;
  readonly signal?: AbortSignal | undefined;
  /** Shows a message to the person. */
  readonly show: (message: Shown) => void;
  /** Hears what a person is being asked. */
  readonly ask: (questions: readonly Question[]) => void;
}

const LONGEST_DEADLINE = 120; // until the server has said what it is
const LONGEST_WAIT = 30;
const LONGEST_ID = 180; // a suffix of ours still fits
const PATIENCE_AT_THE_END = 5;

export class Session {
  readonly #connection: Connection;
  readonly #opening: Opening;
  readonly #path: string;
  readonly #deadline: number;
  readonly #ids = new Map<string, number>();
  readonly #over = new AbortController();
  readonly #renewing: NodeJS.Timeout;
  /** Calls that may have been allowed and will not run, with the reason. */
  readonly #unrun = new Map<string, string>();
  #notes: Note[] = [];
  #ending: Promise<void> | undefined;

  private constructor(connection: Connection, opening: Opening, body: JsonObject) {
    const { session, lease, deadline, status, reason } = body;
    const isGood = typeof session === "string" && session !== "" && typeof lease === "number" && lease > 0;
    if (!isGood || typeof deadline !== "number" || status !== "open") {
      const why = status === "ended" ? `it has ended: ${String(reason)}` : "the answer of the judge is wrong";
      throw new Unanswered(`No session was opened: ${why}`);
    }
    this.#connection = connection;
    this.#opening = opening;
    this.#path = `/sessions/${encodeURIComponent(session)}`;
    this.#deadline = deadline;
    this.id = session;
    this.#renewing = setInterval(() => void this.#renew(lease), (lease * 1000) / 3);
    this.#renewing.unref();
    readShown(body).forEach(opening.show);
  }

  readonly id: string;

  static async open(connection: Connection, opening: Opening): Promise<Session> {
    const body = {
      key: randomUUID(),
      program: opening.program,
      requests: opening.requests,
      lease: opening.lease,
    };
    const sending = { wanted: [201, 200], limit: LONGEST_DEADLINE + 5, signal: opening.signal };
    return new Session(connection, opening, (await connection.post("/sessions", body, sending)).body);
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined;
  }

  /** Whether the server was told that it gets every request to the model. */
  get seesRequests(): boolean {
    return this.#opening.requests;
  }

  /** An id for an event that no other event of this session has; the one that is wanted, if it is free. */
  takeId(wanted: string): string {
    const id = wanted.length > 0 && wanted.length <= LONGEST_ID ? wanted : randomUUID();
    const used = this.#ids.get(id) ?? 0;
    this.#ids.set(id, used + 1);
    // Some models use the ids of calls again; to the server, the same id is the same event.
    return used === 0 ? id : this.takeId(`${id}#${used + 1}`);
  }

  /** Have an event judged, waiting for people if they are asked; Unanswered if nobody can say. */
  async judge(event: EventName, id: string, fields: JsonObject): Promise<Judgement> {
    if (this.hasEnded) throw new Unanswered("the session has ended");
    const sending = (wait: number): Sending => ({
      wanted: [200],
      limit: this.#deadline + wait + 5,
      signal: this.#over.signal,
    });
    const first = await this.#connection.post(`${this.#path}/events`, { ...fields, event, id, wait: 0 }, sending(0));
    if (first.isOfAnother) throw new Unanswered(`another event has the id ${id}`);
    let judgement = this.#take(first.body, event, id);
    let told = "";
    for (let wait = 1; judgement.decision === "pending"; wait = Math.min(LONGEST_WAIT, wait * 3)) {
      const asked = JSON.stringify(judgement.questions.map((one) => [one.id, one.prompt]));
      if (asked !== told && judgement.questions.length > 0) this.#opening.ask(judgement.questions);
      told = asked;
      const path = `${this.#path}/events/${encodeURIComponent(id)}?wait=${wait}`;
      judgement = this.#take((await this.#connection.get(path, sending(wait))).body, event, id);
    }
    return judgement;
  }

  #take(body: JsonObject, event: EventName, id: string): Judgement {
    const judgement = readJudgement(body, event, id);
    this.#notes.push(...judgement.notes);
    judgement.shown.forEach(this.#opening.show);
    return judgement;
  }

  /** What hooks want the model to read and nobody has taken yet. */
  takeNotes(): Note[] {
    const taken = this.#notes;
    this.#notes = [];
    return taken;
  }

  /** Keep in mind that a call does not run, though the server may take it for allowed. */
  noteUnrun(id: string, why: string): void {
    this.#unrun.set(id, why);
  }

  /** Say of a call that was allowed that it does not run. */
  async reportUnrun(id: string, why: string): Promise<void> {
    const sending = { wanted: [200], limit: this.#deadline + 5, patience: PATIENCE_AT_THE_END };
    const body = { event: "result", id: this.takeId(`${id}:result`), call: id, not_run: why };
    try {
      await this.#connection.post(`${this.#path}/events`, body, sending);
    } catch {
      // The server does not have it as allowed, or is gone: nothing ran either way.
    }
  }

  async #renew(lease: number): Promise<void> {
    const sending = { wanted: [200], limit: lease / 3, patience: 0, signal: this.#over.signal };
    try {
      await this.#connection.post(`${this.#path}/renewal`, {}, sending);
    } catch {
      // If the session is lost, its next event is told so, and nothing is allowed.
    }
  }

  /** End it, once; what is still being asked is given up. Never throws: a person is told instead. */
  end(reason: EndReason): Promise<void> {
    this.#ending ??= this.#end(reason);
    return this.#ending;
  }

  async #end(reason: EndReason): Promise<void> {
    clearInterval(this.#renewing);
    this.#over.abort(new Unanswered("the session has ended"));
    await sleep(0); // who waits for an event is told first, and says whether a call is given up
    await Promise.all([...this.#unrun].map(([id, why]) => this.reportUnrun(id, why)));
    const sending = { wanted: [200], limit: this.#deadline + 5, patience: PATIENCE_AT_THE_END };
    try {
      const { body } = await this.#connection.post(`${this.#path}/end`, { reason }, sending);
      readShown(body).forEach(this.#opening.show);
    } catch (error) {
      const text = `The session could not be ended: ${(error as Error).message}`;
      this.#opening.show({ text, level: "warning", source: "client" });
    }
  }
}
