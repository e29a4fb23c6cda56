// @ts-check
// What the whole page shares: who is logged in, what is known, and the live connection.

import { ApiError, get, keepCsrf, post } from "./api.js";
import { ApprovalBook } from "./book.js";
import { LiveConnection } from "./live.js";

/** @typedef {import("../types.js").Person} Person */
/** @typedef {import("../types.js").Session} Session */

/** Fires `person`, `session` (an entry changed), `records` (of the watched session). */
class Model extends EventTarget {
  approvals = new ApprovalBook();
  live = new LiveConnection();
  /** @type {Person | null} */
  person = null;

  constructor() {
    super();
    this.live.addEventListener("message", (event) => {
      this.#take(/** @type {CustomEvent} */ (event).detail);
    });
    this.live.addEventListener("state", () => {
      if (!this.live.isOpen) this.approvals.setComplete(false);
    });
    window.addEventListener("loginrequired", () => this.#forget());
  }

  get mayDecide() {
    const scopes = this.person?.scopes ?? [];
    return scopes.some((one) => one === "decide" || one.startsWith("decide:"));
  }

  get mayAdminister() {
    return this.person?.scopes.includes("admin") ?? false;
  }

  /** Find out whether this browser is logged in; false if not. */
  async recognise() {
    try {
      this.#welcome(await get("/me"));
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return false;
      throw error;
    }
  }

  /** @param {string} code */
  async logIn(code) {
    const person = await post("/login", { code });
    keepCsrf(person.csrf);
    this.#welcome(person);
  }

  async logOut() {
    await post("/logout");
    this.#forget();
  }

  /** @param {Person} person */
  #welcome(person) {
    this.person = person;
    this.live.start();
    this.dispatchEvent(new Event("person"));
  }

  #forget() {
    if (!this.person) return;
    this.person = null;
    keepCsrf("");
    this.live.stop();
    this.approvals.clear();
    this.dispatchEvent(new Event("person"));
  }

  /** @param {any} message */
  #take(message) {
    if (message.type === "pending") this.approvals.replacePending(message).catch(() => {});
    if (message.type === "waiting") this.approvals.setCount(message.count);
    if (message.type === "approval") this.approvals.add([message.approval]);
    if (message.type === "store") this.approvals.setComplete(message.available);
    if (message.type === "session") this.#announce("session", message.session);
    if (message.type === "records") this.#announce("records", message);
  }

  /**
   * @param {string} type
   * @param {unknown} detail
   */
  #announce(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

export const model = new Model();
