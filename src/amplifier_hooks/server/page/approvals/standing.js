// @ts-check
// Keeping an answer as a rule beyond the session: what it would allow, in words, before the click.

import { make } from "../kit/dom.js";
import { countNoun, formatDuration, formatMoment } from "../kit/words.js";

/** @typedef {import("../types.js").OfferedScope} OfferedScope */

const HOUR = 3600;
const DAY = 24 * HOUR;
const TERMS = [HOUR, DAY, 7 * DAY, 30 * DAY, 90 * DAY];

export class StandingChoice {
  #scopes;
  #form;
  #words = make("p", { class: "grant", "aria-live": "polite" });
  element;

  /**
   * @param {OfferedScope[]} scopes
   * @param {() => void} onchange
   */
  constructor(scopes, onchange) {
    this.#scopes = scopes;
    const update = () => {
      this.#words.replaceChildren(this.describe());
      onchange();
    };
    const uses = make("input", { id: "rule-uses", name: "uses", type: "number", min: 1, max: 1_000_000, placeholder: "any" });
    this.#form = make(
      "form",
      { oninput: update, onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
      listScopes(scopes),
      make("div", { class: "fields" }, field("For how long", "rule-seconds", listTerms()), field("How many times", "rule-uses", uses)),
    );
    this.element = make("div", { class: "panel standing" }, this.#form, this.#words);
    this.#words.replaceChildren(this.describe());
  }

  /** What the person is about to grant, as the API takes it. */
  read() {
    const data = new FormData(this.#form);
    const uses = Number(data.get("uses"));
    return {
      scope: String(data.get("scope")),
      seconds: Number(data.get("seconds")),
      uses: uses >= 1 ? Math.floor(uses) : null,
    };
  }

  /** The same in words. */
  describe() {
    const { scope, seconds, uses } = this.read();
    const words = this.#scopes.find((one) => one.id === scope)?.words ?? scope;
    const until = formatMoment(Date.now() / 1000 + seconds);
    const times = uses === null ? "any number of times" : `at most ${countNoun(uses, "time")}`;
    return `If you allow it, nobody is asked again for ${formatDuration(seconds)} (until ${until}), ${times}: ${words}`;
  }

  /** In a few words, for the button that grants it. */
  summarise() {
    return `and keep as a rule for ${formatDuration(this.read().seconds)}`;
  }
}

/** @param {OfferedScope[]} scopes */
function listScopes(scopes) {
  // One alone needs no choice; the sentence below says what it is.
  if (scopes.length === 1) return make("input", { type: "hidden", name: "scope", value: scopes[0].id });
  return make("fieldset", {}, make("legend", {}, "Do not ask again for"), ...scopes.map(showScope));
}

/**
 * @param {OfferedScope} scope
 * @param {number} at
 */
function showScope(scope, at) {
  const radio = make("input", { type: "radio", name: "scope", value: scope.id, checked: at === 0 });
  return make("label", { class: "radio" }, radio, make("span", {}, scope.words));
}

function listTerms() {
  const options = TERMS.map((one) => make("option", { value: one, selected: one === 7 * DAY }, formatDuration(one)));
  return make("select", { id: "rule-seconds", name: "seconds" }, ...options);
}

/**
 * @param {string} label
 * @param {string} id
 * @param {Node} control
 */
function field(label, id, control) {
  return make("div", { class: "field" }, make("label", { for: id }, label), control);
}
