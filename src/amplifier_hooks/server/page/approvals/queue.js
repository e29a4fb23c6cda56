// @ts-check
// Which question is put next: one dialog at a time, oldest first; what was put aside stays in the
// inbox until somebody opens it there.

import { model } from "../link/model.js";
import { ApprovalDialog } from "./dialog.js";

/** @typedef {import("../types.js").Approval} Approval */

const ASIDE = "amplifier:aside";
const ASIDE_UNTIL = "amplifier:aside-until";

class ApprovalQueue {
  /** @type {ApprovalDialog | null} */
  #open = null;
  #aside = new Set(readAside());
  /** Those that were asked before were all put aside, also those that are not loaded yet. */
  #asideUntil = Number(sessionStorage.getItem(ASIDE_UNTIL) ?? 0);
  /** The one that the address names goes first. */
  #wanted = "";

  start() {
    model.approvals.addEventListener("change", () => this.#ask());
    model.addEventListener("person", () => this.#restart());
    this.#ask();
  }

  /**
   * Open this one next, also if it was put aside.
   * @param {string} id
   */
  put(id) {
    this.#wanted = id;
    this.#setAside([id], false);
    this.#ask();
  }

  #ask() {
    if (this.#open || !model.mayDecide) return;
    const pending = model.approvals.listPending();
    const next =
      pending.find((one) => one.id === this.#wanted) ?? pending.find((one) => !this.#aside.has(one.id) && one.created > this.#asideUntil);
    if (!next) return;
    this.#wanted = "";
    const dialog = new ApprovalDialog(next);
    this.#open = dialog;
    dialog.addEventListener("done", (event) => {
      this.#close(dialog, /** @type {CustomEvent} */ (event).detail);
    });
    document.body.append(dialog);
  }

  /**
   * @param {ApprovalDialog} dialog
   * @param {"" | "later" | "all"} how
   */
  #close(dialog, how) {
    if (dialog !== this.#open) return;
    dialog.remove();
    this.#open = null;
    if (how === "later") this.#setAside([dialog.approval.id], true);
    if (how === "all") this.#setAllAside(dialog.approval);
    this.#ask();
  }

  /** @param {Approval} one  which tells what the time is by the store's clock */
  #setAllAside(one) {
    this.#asideUntil = one.deadline - (one.ends - performance.now()) / 1000;
    sessionStorage.setItem(ASIDE_UNTIL, String(this.#asideUntil));
    this.#setAside(model.approvals.listPending().map((one) => one.id), true);
  }

  #restart() {
    if (model.person) return;
    this.#open?.remove();
    this.#open = null;
  }

  /**
   * @param {string[]} ids
   * @param {boolean} aside
   */
  #setAside(ids, aside) {
    for (const id of ids) aside ? this.#aside.add(id) : this.#aside.delete(id);
    const known = [...this.#aside].filter((id) => model.approvals.find(id)?.status === "pending");
    sessionStorage.setItem(ASIDE, JSON.stringify(known.slice(-2000)));
  }
}

/** @returns {string[]} */
function readAside() {
  try {
    return JSON.parse(sessionStorage.getItem(ASIDE) ?? "[]");
  } catch {
    return [];
  }
}

export const queue = new ApprovalQueue();
