// @ts-check
// <inbox-view>: all that waits, on every machine; several can be refused at once.

import { make } from "../kit/dom.js";
import { KeptList } from "../kit/list.js";
import { ListState } from "../kit/list_state.js";
import { View } from "../kit/view.js";
import { countNoun, formatCount } from "../kit/words.js";
import { makeKey, post } from "../link/api.js";
import { model } from "../link/model.js";
import { confirm } from "../people/confirm.js";
import { announce, announceError } from "../people/notices.js";
import { makeCard } from "./card.js";
import { Filters } from "./filters.js";

/** @typedef {import("../types.js").Approval} Approval */

const STEP = 100;
const MOST_AT_ONCE = 200;

class InboxView extends View {
  #filters = new Filters();
  #list = make("ul", { class: "cards", "aria-label": "Waiting approvals" });
  #cards = new KeptList(this.#list, (/** @type {Approval} */ one) => [one.id, one.updated], (one) => this.#makeRow(one));
  #summary = make("p", { class: "quiet", role: "status" });
  #state = new ListState(() => model.live.retryNow());
  /** Before the first connection it is loading; afterwards, without one, it is offline. */
  #wasOpen = false;
  #more = make("button", { type: "button", class: "more", hidden: true }, "Show more");
  #batch = make("div", { class: "batch" });
  /** @type {Set<string>} */
  #chosen = new Set();
  #limit = STEP;

  show() {
    this.#more.addEventListener("click", () => {
      this.#limit += STEP;
      this.#update();
      this.#loadUntil(this.#limit);
    });
    const heading = make("div", { class: "heading" }, make("h1", { tabindex: -1 }, "Inbox"), this.#summary);
    this.replaceChildren(heading, this.#filters.element, this.#batch, this.#list, this.#more, this.#state.element);
    this.listen(model.approvals, "change", () => this.#update());
    this.listen(model.live, "state", () => this.#update());
    this.listen(this.#filters, "change", () => this.#update());
    // Whoever searches means all that wait, and chooses from all there is.
    this.listen(this.#filters.element, "focusin", () => this.#loadUntil(Infinity));
    this.#update();
  }

  /** @param {number} wanted  how many are wanted at least */
  async #loadUntil(wanted) {
    const { approvals } = model;
    try {
      while (approvals.hasMore && approvals.listPending().length < wanted && this.isConnected) await approvals.loadMore();
    } catch (error) {
      announceError(error);
    }
    this.#update();
  }

  #update() {
    const pending = model.approvals.listPending();
    this.#filters.offer(pending);
    const shown = pending.filter((one) => this.#filters.matches(one));
    const ids = new Set(shown.map((one) => one.id));
    for (const id of this.#chosen) if (!ids.has(id)) this.#chosen.delete(id);
    this.#cards.show(shown.slice(0, this.#limit));
    const { count, hasMore, isComplete } = model.approvals;
    this.#more.hidden = shown.length <= this.#limit && !hasMore;
    this.#filters.element.hidden = pending.length === 0;
    this.#summary.textContent = describeCount(this.#filters.isUsed ? shown.length : count, count, isComplete, this.#filters.isUsed && hasMore);
    this.#showEmpty(shown.length, pending.length);
    this.#showBatch(shown);
  }

  /**
   * @param {number} shown
   * @param {number} all
   */
  #showEmpty(shown, all) {
    this.#wasOpen ||= model.live.isOpen;
    if (shown) return this.#state.hide();
    if (all && this.#filters.isUsed && model.approvals.hasMore) this.#state.showLoading();
    else if (all) this.#state.showEmpty("Nothing fits", "No waiting approval fits what you are looking for.");
    else if (model.approvals.isComplete) this.#state.showEmpty("All answered", "Nothing waits for you. When an agent asks, the question opens here by itself.");
    else if (model.live.hasLostStore || (this.#wasOpen && !model.live.isOpen)) this.#state.showFailure("What waits is not known while the page is offline.");
    else this.#state.showLoading();
  }

  /** @param {Approval} approval */
  #makeRow(approval) {
    if (!model.mayDecide) return makeCard(approval);
    const box = make("input", { type: "checkbox", "aria-label": "Select", "aria-describedby": `card-${approval.id}` });
    box.checked = this.#chosen.has(approval.id);
    box.addEventListener("change", () => {
      box.checked ? this.#chosen.add(approval.id) : this.#chosen.delete(approval.id);
      this.#update();
    });
    const card = makeCard(approval, make("label", { class: "select" }, box));
    card.querySelector(".headline")?.setAttribute("id", `card-${approval.id}`);
    return card;
  }

  /** @param {Approval[]} shown */
  #showBatch(shown) {
    this.#batch.hidden = !model.mayDecide || shown.length < 2;
    const all = shown.length > 0 && this.#chosen.size === shown.length;
    const select = make("button", { type: "button", onclick: () => this.#selectAll(!all) }, all ? "Select none" : "Select all");
    const refuse = make("button", { type: "button", class: "refuse", disabled: this.#chosen.size === 0, onclick: () => this.#refuse() }, `Refuse selected (${this.#chosen.size})`);
    const focused = this.#batch.contains(document.activeElement) ? [...this.#batch.children].indexOf(/** @type {Element} */ (document.activeElement)) : -1;
    this.#batch.replaceChildren(select, refuse);
    if (focused >= 0) /** @type {HTMLElement} */ (this.#batch.children[focused]).focus();
  }

  /** @param {boolean} selected */
  async #selectAll(selected) {
    if (selected) await this.#loadUntil(Infinity);
    const shown = model.approvals.listPending().filter((one) => this.#filters.matches(one));
    this.#chosen = new Set(selected ? shown.map((one) => one.id) : []);
    for (const box of this.#list.querySelectorAll("input")) box.checked = selected;
    this.#update();
  }

  async #refuse() {
    const chosen = model.approvals.listPending().filter((one) => this.#chosen.has(one.id));
    const answer = await confirm(`Refuse ${countNoun(chosen.length, "approval")}?`, "Each of them is refused. This cannot be taken back.", "Refuse", "Comment to the agents");
    if (!answer) return;
    try {
      await refuseAll(chosen, answer.text);
    } catch (error) {
      announceError(error);
    }
  }
}

/**
 * @param {Approval[]} chosen
 * @param {string} comment
 */
async function refuseAll(chosen, comment) {
  const approvals = chosen.map(({ id, nonce }) => ({ id, nonce }));
  const results = [];
  for (let at = 0; at < approvals.length; at += MOST_AT_ONCE) {
    const body = { approvals: approvals.slice(at, at + MOST_AT_ONCE), comment, key: makeKey() };
    results.push(...(await post("/approvals/refusals", body)).results);
  }
  const late = results.filter((one) => one.error).length;
  const words = `${countNoun(results.length - late, "approval")} refused.`;
  announce(late ? `${words} ${countNoun(late, "approval")} had been answered before.` : words);
  await Promise.all(chosen.slice(0, 50).map((one) => model.approvals.refresh(one.id)));
}

/**
 * @param {number} shown
 * @param {number} all
 * @param {boolean} isComplete
 * @param {boolean} isLoading
 */
function describeCount(shown, all, isComplete, isLoading) {
  if (!all) return "";
  const words = shown === all ? `${formatCount(all)} waiting` : `${formatCount(shown)} of ${formatCount(all)} waiting`;
  if (isLoading) return `${words} so far`;
  return isComplete ? words : `${words} when last heard of`;
}

customElements.define("inbox-view", InboxView);
