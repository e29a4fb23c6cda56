// @ts-check
// <approval-view>: one approval by its address, as a link in a message opens it. It shows; the
// dialog decides.

import { make, showLines, showText } from "../kit/dom.js";
import { formatJson } from "../kit/json.js";
import { View } from "../kit/view.js";
import { describeEnd, formatMoment } from "../kit/words.js";
import { model } from "../link/model.js";
import { showCall } from "./call.js";
import { makeChip } from "./card.js";
import { showFacts, showNotes } from "./facts.js";
import { showCode } from "./long_text.js";
import { readPrompt } from "./prompt.js";
import { queue } from "./queue.js";
import { makeTimeLeft, nameDefault } from "./time_left.js";

/** @typedef {import("../types.js").Approval} Approval */

class ApprovalView extends View {
  #shown = "";

  show() {
    this.replaceChildren(make("h1", { tabindex: -1 }, "Approval"), make("p", { class: "quiet", role: "status" }, "Loading…"));
    this.listen(model.approvals, "change", () => this.#update());
    this.#load();
  }

  get #id() {
    return this.dataset.id ?? "";
  }

  async #load() {
    try {
      await model.approvals.refresh(this.#id);
      queue.put(this.#id);
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      this.replaceChildren(make("h1", { tabindex: -1 }, "Approval"), make("p", { class: "error", role: "alert" }, words));
    }
  }

  #update() {
    const approval = model.approvals.find(this.#id);
    const version = approval && `${approval.status} ${approval.updated}`;
    if (!approval || version === this.#shown) return;
    this.#shown = version ?? "";
    const { headline, rest } = readPrompt(approval.request);
    this.replaceChildren(
      make("div", { class: "heading" }, make("h1", { tabindex: -1 }, showText(headline)), makeChip(approval.status)),
      this.#makeEnd(approval),
      rest ? make("p", { class: "prompt" }, showLines(rest)) : "",
      showFacts(approval, true),
      showNotes(approval) || "",
      showCall(approval.request, "h2"),
      ...showEdit(approval),
    );
  }

  /** @param {Approval} approval */
  #makeEnd(approval) {
    if (approval.status !== "pending") {
      const when = approval.decided_at ? ` (${formatMoment(approval.decided_at)})` : "";
      return make("div", { class: "outcome" }, make("p", {}, `${describeEnd(approval)}${when}`), approval.comment && make("blockquote", {}, showLines(approval.comment)));
    }
    const answer = model.mayDecide
      ? make("button", { type: "button", class: "primary", onclick: () => queue.put(this.#id) }, "Answer")
      : make("span", { class: "quiet" }, "You may look, but not decide.");
    return make("div", { class: "outcome" }, makeTimeLeft(approval, nameDefault(approval)), answer);
  }
}

/** @param {Approval} approval */
function showEdit(approval) {
  if (!approval.edited_input) return [];
  const heading = make("h2", {}, "As it was edited");
  return [make("section", { class: "call" }, make("header", {}, heading), showCode(formatJson(approval.edited_input), "Edited input"))];
}

customElements.define("approval-view", ApprovalView);
