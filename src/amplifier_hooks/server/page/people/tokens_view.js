// @ts-check
// <tokens-view>: who has access: tokens of programs, and one-time codes for people. Admins only.

import { make } from "../kit/dom.js";
import { ListState } from "../kit/list_state.js";
import { View } from "../kit/view.js";
import { formatAge, formatMoment } from "../kit/words.js";
import { get, post } from "../link/api.js";
import { model } from "../link/model.js";
import { confirm } from "./confirm.js";
import { announce, announceError } from "./notices.js";

/** @typedef {import("../types.js").Token} Token */

/** @type {[string, string][]} */
const SCOPES = [
  ["read", "see everything"],
  ["decide", "answer approvals"],
  ["agent", "ask and report; can never decide"],
  ["run", "run sessions on the server"],
  ["admin", "make tokens and codes"],
];

class TokensView extends View {
  #list = make("ul", { class: "cards", "aria-label": "Tokens" });
  #state = new ListState(() => this.#load());
  #secret = make("div", { class: "secret", role: "status" });

  show() {
    this.replaceChildren(
      make("div", { class: "heading" }, make("h1", { tabindex: -1 }, "Access")),
      this.#makeForm(),
      this.#secret,
      make("h2", {}, "Tokens"),
      this.#list,
      this.#state.element,
    );
    this.listen(model.live, "state", () => this.#state.hasFailed && model.live.isOpen && this.#load());
    this.#load();
  }

  async #load() {
    if (!this.#list.children.length) this.#state.showLoading();
    try {
      const { tokens } = await get("/tokens", {}, this.life.signal);
      this.#list.replaceChildren(...tokens.map((/** @type {Token} */ one) => this.#makeCard(one)));
      if (tokens.length) this.#state.hide();
      else this.#state.showEmpty("There are no tokens", "Programs and agents need one.");
    } catch (error) {
      if (!this.life.signal.aborted) this.#state.showFailure(error);
    }
  }

  #makeForm() {
    const name = make("input", { id: "token-name", name: "name", required: true, maxlength: 200, autocomplete: "off" });
    const boxes = SCOPES.map(([scope, words]) => make("label", { class: "check" }, make("input", { type: "checkbox", name: "scope", value: scope, checked: scope === "read" }), make("b", {}, scope), ` ${words}`));
    const form = make(
      "form",
      { class: "panel access", onsubmit: (/** @type {SubmitEvent} */ event) => this.#submit(event) },
      make("div", { class: "field" }, make("label", { for: "token-name" }, "Name"), name),
      make("fieldset", {}, make("legend", {}, "May"), boxes),
      make("div", { class: "buttons" }, make("button", { type: "submit", name: "kind", value: "token" }, "Make a token for a program"), make("button", { type: "submit", name: "kind", value: "code" }, "Make a login code for a person")),
    );
    return form;
  }

  /** @param {SubmitEvent} event */
  async #submit(event) {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const kind = /** @type {HTMLButtonElement | null} */ (event.submitter)?.value ?? "token";
    const data = new FormData(form);
    const body = { name: String(data.get("name")), scopes: data.getAll("scope").map(String) };
    try {
      if (kind === "code") this.#showSecret("Login code, for one use", makeLink((await post("/codes", body)).code));
      else this.#showSecret("Token; it is not shown again", (await post("/tokens", body)).text);
      await this.#load();
    } catch (error) {
      announceError(error);
    }
  }

  /**
   * @param {string} label
   * @param {string} text
   */
  #showSecret(label, text) {
    const field = make("input", { id: "secret", readonly: true, value: text });
    this.#secret.replaceChildren(make("label", { for: "secret" }, label), field);
    field.select();
  }

  /** @param {Token} token */
  #makeCard(token) {
    const used = token.last_used ? `last used ${formatAge(token.last_used)}` : "never used";
    const ends = token.expires ? `, expires ${formatMoment(token.expires)}` : "";
    const button = make("button", { type: "button", class: "refuse", onclick: () => this.#revoke(token) }, "Revoke");
    return make(
      "li",
      { class: "card" },
      make("div", { class: "about" }, make("p", { class: "headline" }, token.name), make("p", { class: "meta" }, [...token.scopes].sort().join(" · ")), make("p", { class: "how" }, `Made ${formatMoment(token.created)}${ends}, ${used}`)),
      make("div", { class: "side" }, token.revoked ? make("span", { class: "chip" }, "Revoked") : button),
    );
  }

  /** @param {Token} token */
  async #revoke(token) {
    if (!(await confirm(`Revoke the token “${token.name}”?`, "Programs that use it are refused from then on.", "Revoke"))) return;
    await post(`/tokens/${encodeURIComponent(token.id)}/revocation`).then(() => announce("The token is revoked."), announceError);
    await this.#load();
  }
}

/** @param {string} code */
function makeLink(code) {
  return `${location.origin}/#code=${encodeURIComponent(code)}`;
}

customElements.define("tokens-view", TokensView);
