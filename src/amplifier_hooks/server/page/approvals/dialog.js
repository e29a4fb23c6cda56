// @ts-check
// <approval-dialog>: one question as a native modal dialog. It opens on the refusal; Escape neither
// decides nor closes; what others decide meanwhile is said, and closes it.

import { make, showLines, showText } from "../kit/dom.js";
import { View } from "../kit/view.js";
import { countNoun, describeEnd } from "../kit/words.js";
import { makeKey } from "../link/api.js";
import { model } from "../link/model.js";
import { announce } from "../people/notices.js";
import { showCall } from "./call.js";
import { DecidedAlready, sendDecision } from "./decision.js";
import { InputEditor } from "./editor.js";
import { showFacts, showNotes } from "./facts.js";
import { makeOptionButton, sortOptions } from "./options.js";
import { readPrompt } from "./prompt.js";
import { StandingChoice } from "./standing.js";
import { makeTimeLeft, nameDefault } from "./time_left.js";
import { makeToggle } from "./toggle.js";

/** @typedef {import("../types.js").Approval} Approval */
/** @typedef {import("../types.js").Option} Option */

// A click or key that was meant for what was there before must not decide.
const SETTLING = 500;
const FAREWELL = 2500;

/** Fires `done` when it is over, with whether the person put it aside (`later`, `all`). */
export class ApprovalDialog extends View {
  /** @type {Approval} */
  approval;
  #opened = 0;
  #key = makeKey();
  #ended = false;
  #sending = false;
  #seen = false;
  /** @type {InputEditor | null} */
  #editor = null;
  /** @type {StandingChoice | null} */
  #standing = null;
  #comment = make("textarea", { id: "comment", rows: 2, maxlength: 4000 });
  #status = make("p", { class: "status", role: "status" });
  #others = make("span", { class: "others" });
  #call = make("div", {});
  #panel = make("div", { class: "panels" });
  #end = make("div", { class: "end", "aria-hidden": "true" });
  #dialog = make("dialog", { class: "approval", closedby: "none", "aria-labelledby": "question" });

  /** @param {Approval} approval */
  constructor(approval) {
    super();
    this.approval = approval;
  }

  show() {
    this.#dialog.replaceChildren(this.#makeHead(), this.#makeBody(), this.#makeFoot());
    this.append(this.#dialog);
    this.listen(this.#dialog, "cancel", (event) => event.preventDefault());
    this.listen(this.#dialog, "keydown", (event) => this.#heedKey(event));
    this.listen(model.approvals, "change", () => this.#follow());
    this.#dialog.showModal();
    this.#opened = performance.now();
    setTimeout(() => this.#dialog.setAttribute("data-settled", ""), SETTLING);
    this.#watchEnd();
    this.#updateOthers();
  }

  // What is shown

  #makeHead() {
    const left = makeTimeLeft(this.approval, nameDefault(this.approval));
    left.addEventListener("over", () => this.#runOut());
    return make("header", {}, make("span", { class: "eyebrow" }, "Approval needed"), this.#others, left);
  }

  #makeBody() {
    const { headline, rest } = readPrompt(this.approval.request);
    this.#call.replaceChildren(showCall(this.approval.request, "h3"));
    return make(
      "div",
      { class: "scroll" },
      make("h2", { id: "question" }, showText(headline)),
      rest && make("p", { class: "prompt" }, showLines(rest)),
      showFacts(this.approval, false),
      showNotes(this.approval),
      this.#call,
      this.#end,
    );
  }

  #makeFoot() {
    const { request, scopes = [] } = this.approval;
    const update = () => this.#updateOptions();
    const toggles = [
      makeToggle("Comment", update, () => this.#openComment()),
      request.editable && makeToggle("Edit", update, () => this.#openEditor()),
      scopes.length > 0 && makeToggle("Keep as a rule", update, () => this.#openStanding()),
    ];
    const buttons = sortOptions(request.options).map((one) => makeOptionButton(request, one, () => this.#choose(one)));
    // Enter on an opened dialog refuses.
    buttons[0].autofocus = !request.options.every((one) => one.allows);
    const later = make("button", { type: "button", class: "later", onclick: () => this.#leave("later") }, "Later");
    later.autofocus = !buttons[0].autofocus;
    return make(
      "footer",
      {},
      this.#panel,
      this.#status,
      make("div", { class: "toggles" }, toggles, later, this.#makeLaterAll()),
      make("div", { class: "options" }, buttons),
    );
  }

  #makeLaterAll() {
    const attributes = { type: "button", class: "later all", hidden: true, onclick: () => this.#leave("all") };
    return make("button", attributes, "All later");
  }

  #openComment() {
    const panel = make("div", { class: "panel" }, make("label", { for: "comment" }, "Comment to the agent"), this.#comment);
    this.#panel.append(panel);
    this.#comment.focus();
    return () => panel.remove();
  }

  #openStanding() {
    const choice = new StandingChoice(this.approval.scopes ?? [], () => this.#updateOptions());
    this.#standing = choice;
    this.#panel.append(choice.element);
    return () => {
      this.#standing = null;
      choice.element.remove();
    };
  }

  #openEditor() {
    const editor = new InputEditor(this.approval.request);
    this.#editor = editor;
    this.#call.replaceChildren(editor.element);
    editor.focus();
    return () => {
      this.#editor = null;
      this.#call.replaceChildren(showCall(this.approval.request, "h3"));
    };
  }

  // What the answers mean now

  #updateOptions() {
    for (const option of this.approval.request.options) {
      const button = this.#findButton(option);
      const fits = !(option.allows && option.remembered && (this.#editor || this.#standing));
      button.disabled = !fits || this.#sending || this.#ended;
      const keeps = this.#standing && option.allows && !option.remembered;
      button.classList.toggle("keeps", Boolean(keeps));
      if (!option.remembered) {
        button.querySelector("small")?.replaceChildren(keeps && this.#standing ? this.#standing.summarise() : "");
      }
    }
  }

  /** @param {Option} option */
  #findButton(option) {
    return /** @type {HTMLButtonElement} */ (this.querySelector(`[data-option="${option.id}"]`));
  }

  #updateOthers() {
    const more = model.approvals.count - (model.approvals.find(this.approval.id)?.status === "pending" ? 1 : 0);
    this.#others.replaceChildren(more ? `${countNoun(more, "more")} waiting`.replace("mores", "more") : "");
    /** @type {HTMLElement} */ (this.querySelector(".later.all")).hidden = more === 0;
  }

  #watchEnd() {
    const root = this.querySelector(".scroll");
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((one) => one.isIntersecting)) this.#seen = true;
    }, { root, rootMargin: "0px 0px 8px 0px" });
    observer.observe(this.#end);
    this.life.signal.addEventListener("abort", () => observer.disconnect());
  }

  /** What is far away has no size until it comes near, so one jump may fall short. */
  #goToEnd(frames = 30) {
    this.#end.scrollIntoView({ block: "end" });
    if (frames > 0 && this.isConnected) requestAnimationFrame(() => this.#goToEnd(frames - 1));
  }

  // What the person does

  /** @param {KeyboardEvent} event */
  #heedKey(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    this.#say("Escape does not decide. Choose an answer, or “Later” to put it aside.");
  }

  /** @param {Option} option */
  async #choose(option) {
    if (this.#ended || this.#sending || performance.now() - this.#opened < SETTLING) return;
    if (option.allows && !this.#seen) {
      this.#goToEnd();
      this.#seen = true;
      return this.#say(`There was more to see; this is the end of it. Press “${option.label}” again to allow it.`);
    }
    try {
      const decision = this.#readDecision(option);
      await this.#send(decision);
    } catch (error) {
      this.#say(error instanceof Error ? error.message : String(error), true);
    }
  }

  // One key for all attempts: an answer that arrived although we were not told counts once.
  /** @param {Option} option */
  #readDecision(option) {
    const edited = option.allows ? this.#editor?.read() : undefined;
    const standing = option.allows ? this.#standing?.read() : undefined;
    return {
      option: option.id,
      nonce: this.approval.nonce,
      key: this.#key,
      comment: this.#comment.isConnected ? this.#comment.value : "",
      ...(edited ? { edited_input: edited } : {}),
      ...(standing ? { standing } : {}),
    };
  }

  /** @param {import("../types.js").Decision} decision */
  async #send(decision) {
    this.#sending = true;
    this.#updateOptions();
    this.#say("Sending your answer…");
    try {
      const approval = await sendDecision(this.approval.id, decision);
      model.approvals.add([approval]);
      if (approval.status === "pending") this.#finishVote(approval);
      else this.#finish(describeEnd(approval), 0);
    } catch (error) {
      if (!(error instanceof DecidedAlready)) throw error;
      if (error.approval) model.approvals.add([error.approval]);
      this.#finish(`You were too late. ${error.approval ? describeEnd(error.approval) : error.message}`, FAREWELL);
    } finally {
      this.#sending = false;
      this.#updateOptions();
    }
  }

  /** @param {Approval} approval */
  #finishVote(approval) {
    const missing = approval.request.requirement.persons - approval.votes.length;
    this.#finish(`Your word counts. ${missing} more must allow it.`, FAREWELL, "later");
  }

  // How it ends

  #follow() {
    this.#updateOthers();
    const now = model.approvals.find(this.approval.id);
    if (!now || this.#ended || this.#sending || now.status === "pending") return;
    this.#finish(describeEnd(now), FAREWELL);
  }

  async #runOut() {
    this.#say("The time is over.");
    await model.approvals.refresh(this.approval.id).catch(() => {});
  }

  /** @param {"later" | "all"} how */
  #leave(how) {
    if (!this.#ended && !this.#sending) this.#finish("", 0, how);
  }

  /**
   * @param {string} words
   * @param {number} pause  milliseconds to read them
   * @param {"" | "later" | "all"} [how]
   */
  #finish(words, pause, how = "") {
    this.#ended = true;
    this.#updateOptions();
    this.classList.add("ended");
    if (words) this.#say(words);
    if (words) announce(words);
    setTimeout(() => {
      this.#dialog.close();
      this.dispatchEvent(new CustomEvent("done", { detail: how }));
    }, pause);
  }

  /**
   * @param {string} words
   * @param {boolean} [wrong]
   */
  #say(words, wrong = false) {
    this.#status.classList.toggle("error", wrong);
    this.#status.replaceChildren(showText(words));
  }
}

customElements.define("approval-dialog", ApprovalDialog);
