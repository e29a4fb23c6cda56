// @ts-check
// <history-view>: what was asked, and how it ended, newest first.

import { make } from "../kit/dom.js";
import { KeptList } from "../kit/list.js";
import { ListState } from "../kit/list_state.js";
import { View } from "../kit/view.js";
import { nameStatus } from "../kit/words.js";
import { get } from "../link/api.js";
import { addEnd } from "../link/book.js";
import { model } from "../link/model.js";
import { makeCard } from "./card.js";
import { Filters } from "./filters.js";

/** @typedef {import("../types.js").Approval} Approval */

const ENDED = ["approved", "executing", "executed", "failed", "unknown", "denied", "expired", "cancelled"];
const STEP = 50;

class HistoryView extends View {
  #filters = new Filters([["", "Any end"], ...ENDED.map((one) => /** @type {[string, string]} */ ([one, nameStatus(one)]))]);
  #list = make("ul", { class: "cards", "aria-label": "Decided approvals" });
  #cards = new KeptList(this.#list, (/** @type {Approval} */ one) => [one.id, one.updated], (one) => makeCard(one));
  #more = make("button", { type: "button", class: "more", hidden: true }, "Show more");
  #state = new ListState(() => this.#load());
  #isLoaded = false;
  /** @type {Map<string, Approval>} */
  #found = new Map();
  #next = "";
  #search = 0;
  #timer = 0;

  show() {
    this.#more.addEventListener("click", () => this.#load());
    this.replaceChildren(make("div", { class: "heading" }, make("h1", { tabindex: -1 }, "History")), this.#filters.element, this.#list, this.#more, this.#state.element);
    this.listen(this.#filters, "change", () => this.#searchSoon());
    this.listen(model.approvals, "change", (event) => this.#take(event.detail));
    this.listen(model.live, "state", () => this.#state.hasFailed && model.live.isOpen && this.#load());
    this.#restart();
  }

  #searchSoon() {
    this.#isLoaded = false;
    this.#update();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#restart(), 250);
  }

  #restart() {
    this.#found.clear();
    this.#next = "";
    this.#isLoaded = false;
    return this.#load();
  }

  async #load() {
    const search = ++this.#search;
    if (!this.#found.size) this.#state.showLoading();
    const status = this.#filters.read("status");
    const query = { ...this.#filters.query, status: status ? [status] : ENDED, order: "new", limit: STEP, after: this.#next };
    try {
      const { approvals, next } = await get("/approvals", query, this.life.signal);
      if (search !== this.#search) return;
      for (const one of approvals) this.#found.set(one.id, addEnd(one));
      this.#next = next;
      this.#isLoaded = true;
      this.#state.hide();
    } catch (error) {
      if (this.life.signal.aborted || search !== this.#search) return;
      this.#state.showFailure(error);
    }
    this.#update();
  }

  /** @param {Approval[]} news */
  #take(news) {
    const status = this.#filters.read("status");
    for (const one of news) {
      if (one.status !== "pending" && (!status || one.status === status)) this.#found.set(one.id, one);
    }
    this.#update();
  }

  #update() {
    const found = [...this.#found.values()].sort((a, b) => b.created - a.created);
    this.#filters.offer(found);
    const shown = found.filter((one) => this.#filters.matches(one));
    this.#cards.show(shown);
    this.#more.hidden = !this.#next;
    if (this.#state.hasFailed) return;
    if (shown.length) this.#state.hide();
    else if (this.#isLoaded) this.#state.showEmpty("Nothing found", "Nothing that fits was found.");
    else this.#state.showLoading();
  }
}

customElements.define("history-view", HistoryView);
