// @ts-check
// <session-transcript>: the conversation, with what hooks have put into it marked with their names.

import { make } from "../kit/dom.js";
import { formatJson } from "../kit/json.js";
import { View } from "../kit/view.js";
import { get } from "../link/api.js";
import { model } from "../link/model.js";
import { showCode, showProse } from "../approvals/long_text.js";

/** @typedef {import("../types.js").Message} Message */

/** @type {Record<string, string>} */
const ROLES = { user: "Person", assistant: "Agent", system: "System", tool: "Tool", developer: "Developer" };

class SessionTranscript extends View {
  #list = make("ol", { class: "transcript", "aria-label": "Transcript" });
  #note = make("p", { class: "quiet", role: "status" }, "Loading…");
  #updated = 0;
  #hasFailed = false;

  show() {
    this.replaceChildren(this.#note, this.#list);
    this.listen(model, "session", (event) => {
      if (event.detail.id === this.dataset.id && event.detail.updated > this.#updated) this.#load();
    });
    this.listen(model.live, "state", () => this.#hasFailed && model.live.isOpen && this.#load());
    this.#load();
  }

  async #load() {
    this.#hasFailed = false;
    try {
      const { messages } = await get(`/sessions/${encodeURIComponent(this.dataset.id ?? "")}/transcript`, {}, this.life.signal);
      this.#updated = Date.now() / 1000;
      this.#list.replaceChildren(...messages.map(makeMessage));
      this.#note.textContent = messages.length ? "" : "Nothing has been said yet.";
    } catch (error) {
      if (this.life.signal.aborted) return;
      this.#hasFailed = true;
      this.#note.textContent = `Not known: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
}

/** @param {Message} message */
function makeMessage(message) {
  const metadata = message.metadata ?? {};
  const injected = metadata.source === "hook";
  const role = ROLES[message.role] ?? message.role;
  const hooks = Array.isArray(metadata.hooks) ? metadata.hooks.join(", ") : (metadata.hook_name ?? "a hook");
  const source = injected && make("span", { class: "chip injected" }, `Injected by ${hooks}${metadata.event ? ` on ${metadata.event}` : ""}`);
  const name = message.name ? `${role} · ${message.name}` : role;
  return make(
    "li",
    { class: `message ${injected ? "injected" : ""} role-${message.role.replace(/\W/g, "")}` },
    make("header", {}, make("b", {}, name), source),
    ...showContent(message.content),
    ...listCalls(message).map(showToolCall),
  );
}

/**
 * The calls that stand beside the content; those that are blocks of it are shown there.
 * @param {Message} message
 */
function listCalls({ content, tool_calls }) {
  const blocks = Array.isArray(content) ? content.filter(isCall) : [];
  const shown = new Set(blocks.map((one) => one.id));
  return (tool_calls ?? []).filter((one) => (one?.id === undefined ? blocks.length === 0 : !shown.has(one.id)));
}

/** @param {any} block */
function isCall(block) {
  return block?.type === "tool_call" || block?.type === "tool_use";
}

/**
 * @param {unknown} content
 * @returns {Node[]}
 */
function showContent(content) {
  if (typeof content === "string") return content ? [showProse(content)] : [];
  if (Array.isArray(content)) return content.flatMap(showBlock);
  return content === null || content === undefined ? [] : [showCode(formatJson(content), "Content")];
}

/**
 * @param {any} block
 * @returns {Node[]}
 */
function showBlock(block) {
  const kind = block?.type;
  if (typeof block?.text === "string") return [showProse(block.text)];
  if (kind === "thinking") return [make("details", {}, make("summary", {}, "Thinking"), showProse(String(block.thinking ?? "")))];
  if (isCall(block)) return [showToolCall(block)];
  if (kind === "tool_result") return showContent(block.output ?? block.content);
  return [showCode(formatJson(block), "Content")];
}

/** @param {any} call */
function showToolCall(call) {
  const name = call.tool ?? call.name ?? call.function?.name ?? "tool";
  const input = call.input ?? call.arguments ?? call.function?.arguments ?? {};
  const text = typeof input === "string" ? input : formatJson(input);
  return make("div", { class: "tool-call" }, make("p", {}, "Calls ", make("b", {}, String(name))), showCode(text, `Input of ${name}`));
}

customElements.define("session-transcript", SessionTranscript);
