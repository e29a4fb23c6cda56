// @ts-check
// <sessions-view>: the sessions of all machines, newest first, and how they stand now.

import { make } from "../kit/dom.js";
import { getFirstLine } from "../kit/escape.js";
import { KeptList } from "../kit/list.js";
import { ListState } from "../kit/list_state.js";
import { linkTo } from "../kit/router.js";
import { View } from "../kit/view.js";
import { countNoun, formatAge } from "../kit/words.js";
import { get } from "../link/api.js";
import { model } from "../link/model.js";

/** @typedef {import("../types.js").Session} Session */

const STATES = ["running", "waiting", "idle", "ended", "failed", "lost"];
const STEP = 50;

class SessionsView extends View {
  #list = make("ul", { class: "cards", "aria-label": "Sessions" });
  #cards = new KeptList(this.#list, (/** @type {Session} */ one) => [one.id, `${one.updated} ${one.status}`], makeCard);
  #status = make("select", { "aria-label": "Status" }, make("option", { value: "" }, "Any status"), ...STATES.map((one) => make("option", { value: one }, one)));
  #machine = make("input", { type: "search", placeholder: "Machine", "aria-label": "Machine" });
  #more = make("button", { type: "button", class: "more", hidden: true }, "Show more");
  #state = new ListState(() => this.#load());
  #isLoaded = false;
  #search = 0;
  /** @type {Map<string, Session>} */
  #found = new Map();
  #next = "";
  #timer = 0;

  show() {
    const filters = make("search", { class: "filters" }, this.#machine, this.#status);
    this.replaceChildren(make("div", { class: "heading" }, make("h1", { tabindex: -1 }, "Sessions")), filters, this.#list, this.#more, this.#state.element);
    this.listen(filters, "input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#restart(), 250);
    });
    this.listen(this.#more, "click", () => this.#load());
    this.listen(model, "session", (event) => this.#take(event.detail));
    this.listen(model.live, "state", () => this.#state.hasFailed && model.live.isOpen && this.#load());
    this.#restart();
  }

  #restart() {
    this.#found.clear();
    this.#next = "";
    this.#isLoaded = false;
    this.#state.hide();
    this.#update();
    return this.#load();
  }

  async #load() {
    const query = { status: this.#status.value, machine: this.#machine.value.trim(), limit: STEP, after: this.#next };
    const search = ++this.#search;
    if (!this.#found.size) this.#state.showLoading();
    try {
      const { sessions, next } = await get("/sessions", query, this.life.signal);
      if (search !== this.#search) return;
      for (const one of sessions) this.#found.set(one.id, one);
      this.#next = next;
      this.#isLoaded = true;
      this.#state.hide();
    } catch (error) {
      if (this.life.signal.aborted || search !== this.#search) return;
      this.#state.showFailure(error);
    }
    this.#update();
  }

  /** @param {Session} session */
  #take(session) {
    const fits = [this.#status.value || session.status, this.#machine.value.trim() || session.machine];
    if (fits[0] !== session.status || fits[1] !== session.machine) this.#found.delete(session.id);
    else this.#found.set(session.id, session);
    this.#update();
  }

  #update() {
    const found = [...this.#found.values()].sort((a, b) => b.updated - a.updated);
    this.#cards.show(found);
    this.#more.hidden = !this.#next;
    if (this.#state.hasFailed) return;
    if (found.length) this.#state.hide();
    else if (!this.#isLoaded) this.#state.showLoading();
    else if (this.#status.value || this.#machine.value.trim()) this.#state.showEmpty("Nothing found", "No session fits what you are looking for.");
    else this.#state.showEmpty("No sessions", "Sessions appear here when their bundle names this server or its store.");
  }
}

/** @param {Session} session */
function makeCard(session) {
  const origin = [session.user, session.machine, session.working_dir, session.bundle].filter(Boolean).join(" · ");
  const last = session.error || session.reply;
  return make(
    "li",
    { class: "card" },
    make("div", { class: "about" }, make("a", { class: "headline", href: linkTo("sessions", session.id) }, getFirstLine(session.name || session.id)), make("p", { class: "meta" }, origin), last && make("p", { class: "how" }, getFirstLine(last))),
    make("div", { class: "side" }, makeState(session.status), make("span", { class: "quiet" }, `${countNoun(session.turns, "turn")} · ${formatAge(session.updated)}`)),
  );
}

/** @param {string} status */
export function makeState(status) {
  return make("span", { class: `chip state-${status}` }, status);
}

customElements.define("sessions-view", SessionsView);
