// @ts-check
// The live connection: one WebSocket, renewed with growing pauses when it breaks.

import { parseExactly } from "../kit/json.js";
import { ApiError, get, getCsrf } from "./api.js";

const SHORTEST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;
// The server sends something at least every half minute; a silent connection is a dead one.
const LONGEST_SILENCE = 75_000;
// How many of those that wait are told at first: more than anybody sees without asking for more.
const WINDOW = 100;

/**
 * Fires `state` (open or closed, with or without the database, when it tries again) and `message`.
 */
export class LiveConnection extends EventTarget {
  /** @type {WebSocket | null} */
  #socket = null;
  #wanted = false;
  #pause = SHORTEST_PAUSE;
  #timer = 0;
  #heard = 0;
  /** @type {{session: string | null, after: number}} */
  #watched = { session: null, after: 0 };
  isOpen = false;
  /** Whether the server is there and its database is not. */
  hasLostStore = false;
  /** When it is tried again, by the steady clock in milliseconds. */
  retryAt = 0;

  constructor() {
    super();
    window.addEventListener("online", () => this.retryNow());
    window.addEventListener("offline", () => this.#socket?.close());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.#checkSilence();
    });
    setInterval(() => this.#checkSilence(), 10_000);
  }

  start() {
    if (this.#wanted) return;
    this.#wanted = true;
    this.#open();
  }

  stop() {
    this.#wanted = false;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  retryNow() {
    if (!this.#wanted || this.#socket) return;
    clearTimeout(this.#timer);
    this.#open();
  }

  /**
   * Ask for the records of one session from now on, also after the connection was renewed.
   * @param {string | null} session
   * @param {number} [after]  the last number that is known
   */
  watch(session, after = 0) {
    this.#watched = { session, after };
    if (this.isOpen) this.#send({ type: "watch", ...this.#watched });
  }

  #open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/api/v1/live`);
    this.#socket = socket;
    this.#heard = performance.now();
    socket.addEventListener("open", () => this.#send({ type: "hello", csrf: getCsrf(), window: WINDOW, ...this.#watched }));
    socket.addEventListener("message", (event) => this.#receive(parseExactly(event.data)));
    socket.addEventListener("close", () => this.#lose(socket));
  }

  /** @param {any} message */
  #receive(message) {
    this.#heard = performance.now();
    if (message.type === "ping") return this.#send({ type: "pong" });
    if (message.type === "welcome") {
      this.isOpen = true;
      this.hasLostStore = false;
      this.#pause = SHORTEST_PAUSE;
      this.#announce();
    }
    if (message.type === "store") {
      this.hasLostStore = !message.available;
      this.#announce();
    }
    if (message.type === "records" && message.session === this.#watched.session) {
      this.#watched.after = message.records.at(-1)?.number ?? this.#watched.after;
    }
    this.dispatchEvent(new CustomEvent("message", { detail: message }));
  }

  /** @param {WebSocket} socket */
  #lose(socket) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    this.isOpen = false;
    this.hasLostStore = false;
    if (!this.#wanted) return;
    // Spread, so that a restarted server is not met by everybody at once.
    const pause = this.#pause * (0.75 + Math.random() / 2);
    this.#pause = Math.min(LONGEST_PAUSE, this.#pause * 2);
    this.retryAt = performance.now() + pause;
    this.#timer = setTimeout(() => this.#open(), pause);
    this.#announce();
    // A browser does not say why a handshake failed; this says whether the login is over.
    get("/me").catch((error) => {
      this.hasLostStore = !this.isOpen && error instanceof ApiError && error.status === 503;
      this.#announce();
    });
  }

  #checkSilence() {
    if (this.#socket && performance.now() - this.#heard > LONGEST_SILENCE) this.#socket.close();
    else this.retryNow();
  }

  /** @param {unknown} message */
  #send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #announce() {
    this.dispatchEvent(new Event("state"));
  }
}
