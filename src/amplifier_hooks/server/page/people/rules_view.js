// @ts-check
// <rules-view>: standing decisions, who made them, how often they were used; each can be revoked.

import { make } from "../kit/dom.js";
import { linkTo } from "../kit/router.js";
import { ListState } from "../kit/list_state.js";
import { View } from "../kit/view.js";
import { countNoun, formatAge, formatMoment } from "../kit/words.js";
import { get, post } from "../link/api.js";
import { model } from "../link/model.js";
import { confirm } from "./confirm.js";
import { announce, announceError } from "./notices.js";

/** @typedef {import("../types.js").Rule} Rule */

class RulesView extends View {
  #list = make("ul", { class: "cards", "aria-label": "Standing rules" });
  #state = new ListState(() => this.#load());

  show() {
    const words = "What somebody has allowed beyond one session, so that nobody is asked again. Hooks that deny still deny.";
    this.replaceChildren(make("div", { class: "heading" }, make("h1", { tabindex: -1 }, "Standing rules")), make("p", { class: "quiet" }, words), this.#list, this.#state.element);
    this.listen(model.live, "state", () => this.#state.hasFailed && model.live.isOpen && this.#load());
    this.#load();
  }

  async #load() {
    if (!this.#list.children.length) this.#state.showLoading();
    try {
      const { rules } = await get("/rules", {}, this.life.signal);
      this.#list.replaceChildren(...rules.map((/** @type {Rule} */ one) => this.#makeCard(one)));
      if (rules.length) this.#state.hide();
      else this.#state.showEmpty("No rules", "When you allow something, “Keep as a rule” makes one.");
    } catch (error) {
      if (!this.life.signal.aborted) this.#state.showFailure(error);
    }
  }

  /** @param {Rule} rule */
  #makeCard(rule) {
    const ended = rule.revoked_at !== null || rule.expires * 1000 < Date.now();
    const button = make("button", { type: "button", class: "refuse", onclick: () => this.#revoke(rule) }, "Revoke");
    const origin = [rule.tool_name, rule.hook, rule.machine, rule.working_dir].filter(Boolean).join(" · ");
    return make(
      "li",
      { class: "card" },
      make("div", { class: "about" }, make("p", { class: "headline" }, rule.description || rule.prompt), make("p", { class: "meta" }, origin), describeWidth(rule), make("p", { class: "how" }, describeLife(rule), " ", make("a", { href: linkTo("approvals", rule.approval_id) }, "See the approval"))),
      make("div", { class: "side" }, ended ? make("span", { class: "chip" }, "Ended") : model.mayDecide && button),
    );
  }

  /** @param {Rule} rule */
  async #revoke(rule) {
    const answer = await confirm("Revoke this rule?", `People are asked again: ${rule.description || rule.prompt}`, "Revoke");
    if (!answer) return;
    await post(`/rules/${encodeURIComponent(rule.id)}/revocation`).then(() => announce("The rule is revoked."), announceError);
    await this.#load();
  }
}

/** @param {Rule} rule */
function describeLife(rule) {
  const left = rule.uses_left === null ? "" : `, ${rule.uses_left} left`;
  const last = rule.last_used ? `, last ${formatAge(rule.last_used)}` : "";
  const until = rule.revoked_at ? `revoked by ${rule.revoked_by}` : `until ${formatMoment(rule.expires)}`;
  return `By ${rule.author} on ${formatMoment(rule.created)}, ${until}. Used ${countNoun(rule.uses, "time")}${left}${last}.`;
}

/** @param {Rule} rule */
function describeWidth(rule) {
  if (rule.question) return "";
  return make("p", { class: "how" }, `Too wide: made by an earlier version for every question of its hook. It now answers only “${rule.prompt}”. Revoke it, and keep a new rule when you are asked next.`);
}

customElements.define("rules-view", RulesView);
