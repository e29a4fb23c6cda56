// @ts-check
// What the page knows of approvals: how many wait, the oldest of them and those that came since, and
// the ends of those it has seen wait. The rest is loaded when somebody looks further or searches.

import { get } from "./api.js";

/** @typedef {import("../types.js").Approval} Approval */

// After a long time away, how many ends are asked for; the history has the rest.
const MOST_ASKED = 20;
const GATHERING = 40;
const PAGE = 100;

/** Fires `change` with the approvals that changed, or with none if it is known or not known now what waits. */
export class ApprovalBook extends EventTarget {
  /** @type {Map<string, Approval>} */
  #known = new Map();
  /** @type {Approval[]} */
  #news = [];
  #timer = 0;
  /** @type {Approval[] | null} */
  #pending = null;
  #count = 0;
  #next = "";
  /** @type {Promise<void> | null} */
  #loading = null;
  /** Whether it was told what waits, and nothing has happened since that could hide others. */
  isComplete = false;

  /** How many wait, those included that were not loaded yet. */
  get count() {
    return Math.max(this.#count, this.listPending().length);
  }

  /** Whether there are some that wait and were not loaded yet. */
  get hasMore() {
    return this.#next !== "";
  }

  /** @param {number} count */
  setCount(count) {
    if (count === this.#count) return;
    this.#count = count;
    this.#announce([]);
  }

  /** Load the next of those that wait. */
  loadMore() {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #load() {
    const after = this.#next;
    if (!after) return;
    const { approvals, next } = await get("/approvals", { status: ["pending"], limit: PAGE, after });
    if (after !== this.#next) return; // it was told anew what waits
    this.#next = next;
    for (const one of approvals) one.isOld = true;
    this.add(approvals);
  }

  /** @param {string} id */
  find(id) {
    return this.#known.get(id);
  }

  /** Those that wait, oldest first. */
  listPending() {
    this.#pending ??= [...this.#known.values()]
      .filter((one) => one.status === "pending")
      .sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));
    return this.#pending;
  }

  /**
   * Take in news; what is older than what is known is passed over.
   * @param {Approval[]} approvals
   */
  add(approvals) {
    const news = approvals.map(addEnd).filter((one) => this.#isNews(one));
    for (const one of news) this.#known.set(one.id, one);
    this.#pending = null;
    if (news.length) this.#announce(news);
  }

  /**
   * Take in what waits: the oldest, and how many in all. The end of what was missed is asked for.
   * @param {{approvals: Approval[], waiting: number, next: string}} told
   */
  async replacePending({ approvals: pending, waiting: count, next }) {
    const waiting = new Set(pending.map((one) => one.id));
    const unknown = this.listPending().filter((one) => !waiting.has(one.id));
    const last = next ? pending[pending.length - 1].created : Infinity;
    const missed = unknown.filter((one) => one.created < last);
    // Of those behind the last one that was told, nobody knows now; they are loaded again.
    for (const one of [...unknown.filter((one) => one.created >= last), ...missed.slice(MOST_ASKED)]) this.#known.delete(one.id);
    this.#count = count;
    this.#next = next;
    this.add(pending);
    this.#pending = null;
    this.setComplete(true);
    await Promise.all(missed.slice(0, MOST_ASKED).map((one) => this.refresh(one.id)));
  }

  /**
   * Read one anew.
   * @param {string} id
   * @returns {Promise<Approval>}
   */
  async refresh(id) {
    const approval = addEnd(await get(`/approvals/${encodeURIComponent(id)}`));
    this.add([approval]);
    return this.find(id) ?? approval;
  }

  /** @param {boolean} isComplete */
  setComplete(isComplete) {
    if (this.isComplete === isComplete) return;
    this.isComplete = isComplete;
    this.dispatchEvent(new CustomEvent("change", { detail: [] }));
  }

  clear() {
    this.#known.clear();
    this.#count = 0;
    this.#next = "";
    this.#pending = null;
    this.isComplete = false;
    this.dispatchEvent(new CustomEvent("change", { detail: [] }));
  }

  /**
   * Tell of changes, many at once: thousands may come in a second.
   * @param {Approval[]} news
   */
  #announce(news) {
    this.#timer ||= setTimeout(() => {
      const detail = this.#news;
      this.#news = [];
      this.#timer = 0;
      this.dispatchEvent(new CustomEvent("change", { detail }));
      this.#refill();
    }, GATHERING);
    this.#news.push(...news);
  }

  /** What is answered makes room for what was not loaded yet. */
  #refill() {
    if (this.hasMore && this.isComplete && this.listPending().length < PAGE) this.loadMore().catch(() => {});
  }

  /** @param {Approval} approval */
  #isNews(approval) {
    const known = this.#known.get(approval.id);
    if (!known) return true;
    return approval.updated >= known.updated && !(known.status !== "pending" && approval.status === "pending");
  }
}

/**
 * The approval with the end of its time by this page's steady clock: the wall clock here may be
 * wrong, and `seconds_left` comes from the only clock that counts.
 * @param {Approval} approval
 */
export function addEnd(approval) {
  return { ...approval, ends: performance.now() + approval.seconds_left * 1000 };
}
