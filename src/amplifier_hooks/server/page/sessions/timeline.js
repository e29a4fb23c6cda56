// @ts-check
// <session-timeline>: the events of a session and the answers of its hooks, as they come.

import { make } from "../kit/dom.js";
import { View } from "../kit/view.js";
import { countNoun, formatCount } from "../kit/words.js";
import { get } from "../link/api.js";
import { model } from "../link/model.js";
import { isTelling, makeRecord } from "./record.js";

/** @typedef {import("../types.js").SessionRecord} SessionRecord */

const PAGE = 500;
const STEP = 200;

class SessionTimeline extends View {
  /** @type {SessionRecord[]} */
  #records = [];
  #limit = STEP;
  #hasFailed = false;
  #all = make("input", { type: "checkbox", id: "all-records" });
  #list = make("ol", { class: "timeline", "aria-label": "Timeline" });
  #earlier = make("button", { type: "button", class: "more", hidden: true });
  #summary = make("p", { class: "quiet", role: "status" }, "Loading…");

  show() {
    const label = make("label", { class: "check", for: "all-records" }, this.#all, "Show also events that no hook objected to, and registrations of hooks");
    this.replaceChildren(make("div", { class: "bar" }, this.#summary, label), this.#earlier, this.#list);
    this.listen(this.#all, "change", () => this.#redraw());
    this.listen(this.#earlier, "click", () => {
      this.#limit += STEP;
      this.#redraw();
    });
    this.listen(model, "records", (event) => {
      if (event.detail.session === this.dataset.id) this.#add(event.detail.records);
    });
    this.listen(model.live, "state", () => this.#hasFailed && model.live.isOpen && this.#load());
    this.#load();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    model.live.watch(null);
  }

  async #load() {
    const path = `/sessions/${encodeURIComponent(this.dataset.id ?? "")}/records`;
    this.#hasFailed = false;
    try {
      for (;;) {
        const { records } = await get(path, { after: this.#last, limit: PAGE }, this.life.signal);
        this.#add(records);
        if (records.length < PAGE) break;
      }
      model.live.watch(this.dataset.id ?? "", this.#last);
    } catch (error) {
      if (this.life.signal.aborted) return;
      this.#hasFailed = true;
      this.#summary.textContent = `Not all is known: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  get #last() {
    return this.#records.at(-1)?.number ?? 0;
  }

  /** @param {SessionRecord[]} records */
  #add(records) {
    const last = this.#last;
    const news = records.filter((one) => one.number > last);
    this.#records.push(...news);
    this.#append(news.filter((one) => this.#isShown(one)));
    this.#summarise();
  }

  /** @param {SessionRecord} record */
  #isShown(record) {
    return this.#all.checked || isTelling(record);
  }

  #redraw() {
    this.#list.replaceChildren();
    this.#append(this.#records.filter((one) => this.#isShown(one)));
    this.#summarise();
  }

  /** @param {SessionRecord[]} records */
  #append(records) {
    const follows = isAtBottom();
    for (const one of records.slice(-this.#limit)) this.#list.append(this.#makeItem(one));
    while (this.#list.children.length > this.#limit) this.#list.firstElementChild?.remove();
    if (follows && records.length && this.#list.children.length > 20) window.scrollTo(0, document.body.scrollHeight);
  }

  /** @param {SessionRecord} record */
  #makeItem(record) {
    const item = makeRecord(record);
    item.dataset.turn = String(record.turn);
    const before = /** @type {HTMLElement | null} */ (this.#list.lastElementChild);
    if (before?.dataset.turn !== item.dataset.turn) item.classList.add("begins");
    return item;
  }

  #summarise() {
    const shown = this.#records.filter((one) => this.#isShown(one)).length;
    const hidden = this.#records.length - shown;
    this.#summary.textContent = this.#records.length
      ? `${countNoun(this.#records.length, "record")}${hidden ? `, ${formatCount(hidden)} of them quiet` : ""}`
      : "Nothing has been recorded yet.";
    this.#earlier.hidden = shown <= this.#limit;
    this.#earlier.textContent = `Show earlier (${formatCount(shown - this.#limit)})`;
  }
}

function isAtBottom() {
  return window.innerHeight + window.scrollY >= document.body.scrollHeight - 40;
}

customElements.define("session-timeline", SessionTimeline);
