// @ts-check
// What the page knows of approvals: all that wait, and the ends of those it has seen wait.

import { get } from "./api.js";

/** @typedef {import("../types.js").Approval} Approval */

// After a long time away, how many ends are asked for; the history has the rest.
const MOST_ASKED = 20;
const GATHERING = 40;

/** Fires `change` with the approvals that changed, or with none if it is known or not known now what waits. */
export class ApprovalBook extends EventTarget {
  /** @type {Map<string, Approval>} */
  #known = new Map();
  /** @type {Approval[]} */
  #news = [];
  /** @type {Approval[] | null} */
  #pending = null;
  /** Whether all that wait were told, and nothing has happened since that could hide others. */
  isComplete = false;

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
    this.#announce(news);
  }

  /**
   * Take in all that wait; the end of what was missed is asked for.
   * @param {Approval[]} pending
   */
  async replacePending(pending) {
    const waiting = new Set(pending.map((one) => one.id));
    const missed = this.listPending().filter((one) => !waiting.has(one.id));
    this.add(pending);
    for (const one of missed.slice(MOST_ASKED)) this.#known.delete(one.id);
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
    this.#pending = null;
    this.isComplete = false;
    this.dispatchEvent(new CustomEvent("change", { detail: [] }));
  }

  /**
   * Tell of changes, many at once: thousands may come in a second.
   * @param {Approval[]} news
   */
  #announce(news) {
    if (news.length && !this.#news.length) {
      setTimeout(() => {
        const detail = this.#news;
        this.#news = [];
        this.dispatchEvent(new CustomEvent("change", { detail }));
      }, GATHERING);
    }
    this.#news.push(...news);
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
