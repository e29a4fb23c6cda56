// @ts-check
// <session-view>: one session, live: its timeline, transcript and trail.

import { make } from "../kit/dom.js";
import { getFirstLine } from "../kit/escape.js";
import { View } from "../kit/view.js";
import { countNoun, formatAge, formatMoment } from "../kit/words.js";
import { get } from "../link/api.js";
import { model } from "../link/model.js";
import { setTitle } from "../people/attention.js";
import { makeState } from "./sessions_view.js";
import "./timeline.js";
import "./trail.js";
import "./transcript.js";

/** @typedef {import("../types.js").Session} Session */

const PARTS = /** @type {const} */ ([
  ["session-timeline", "Timeline"],
  ["session-transcript", "Transcript"],
  ["session-trail", "Trail"],
]);

class SessionView extends View {
  #head = make("div", {}, make("h1", { tabindex: -1 }, "Session"));
  #panel = make("div", { id: "part", role: "tabpanel", tabindex: 0 });
  /** @type {HTMLButtonElement[]} */
  #tabs = [];

  show() {
    this.#tabs = PARTS.map(([tag, name]) => this.#makeTab(tag, name));
    const tabs = make("div", { class: "tabs", role: "tablist", "aria-label": "Parts of the session" }, this.#tabs);
    this.replaceChildren(this.#head, tabs, this.#panel);
    this.listen(tabs, "keydown", (event) => this.#moveTab(event));
    this.listen(model, "session", (event) => {
      if (event.detail.id === this.dataset.id) this.#showEntry(event.detail);
    });
    this.#open(PARTS[0][0]);
    this.#load();
  }

  async #load() {
    try {
      this.#showEntry(await get(`/sessions/${encodeURIComponent(this.dataset.id ?? "")}`, {}, this.life.signal));
    } catch (error) {
      if (this.life.signal.aborted) return;
      this.#head.append(make("p", { class: "error", role: "alert" }, error instanceof Error ? error.message : String(error)));
    }
  }

  /** @param {Session} session */
  #showEntry(session) {
    const name = getFirstLine(session.name || session.id);
    const origin = [session.user, session.machine, session.working_dir, session.bundle].filter(Boolean).join(" · ");
    const life = `Started ${formatMoment(session.created)}, ${countNoun(session.turns, "turn")}, last heard of ${formatAge(session.updated)}`;
    this.#head.replaceChildren(
      make("div", { class: "heading" }, make("h1", { tabindex: -1 }, name), makeState(session.status)),
      make("p", { class: "meta" }, origin),
      make("p", { class: "quiet" }, life),
    );
    if (session.error) this.#head.append(make("p", { class: "error" }, getFirstLine(session.error, 500)));
    setTitle(name);
  }

  /**
   * @param {string} tag
   * @param {string} name
   */
  #makeTab(tag, name) {
    const attributes = { type: "button", role: "tab", id: `tab-${tag}`, "aria-controls": "part", onclick: () => this.#open(tag) };
    return make("button", attributes, name);
  }

  /** @param {string} tag */
  #open(tag) {
    for (const one of this.#tabs) {
      const chosen = one.id === `tab-${tag}`;
      one.setAttribute("aria-selected", String(chosen));
      one.tabIndex = chosen ? 0 : -1;
    }
    this.#panel.setAttribute("aria-labelledby", `tab-${tag}`);
    const part = document.createElement(tag);
    part.dataset.id = this.dataset.id;
    this.#panel.replaceChildren(part);
  }

  /** @param {KeyboardEvent} event */
  #moveTab(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const now = this.#tabs.findIndex((one) => one.tabIndex === 0);
    const next = this.#tabs[(now + step + this.#tabs.length) % this.#tabs.length];
    next.click();
    next.focus();
  }
}

customElements.define("session-view", SessionView);
