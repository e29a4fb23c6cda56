// @ts-check
// What a view says where its entries would be: that they are on their way, that there are none, or
// why nobody knows. One is never said for another.

import { make } from "./dom.js";

export class ListState {
  element = make("div", { class: "empty", role: "status", hidden: true });
  /** Whether the last attempt failed: what is shown may be out of date. */
  hasFailed = false;
  #retry;

  /** @param {() => void} retry */
  constructor(retry) {
    this.#retry = retry;
  }

  showLoading() {
    this.#show(make("p", { class: "loading" }, "Loading…"));
  }

  /** @param {unknown} error */
  showFailure(error) {
    const words = error instanceof Error ? error.message : String(error);
    const again = make("button", { type: "button", onclick: () => this.#retry() }, "Try again");
    this.#show(make("h2", {}, "Not known"), make("p", { class: "error", role: "alert" }, words), again);
    this.hasFailed = true;
  }

  /**
   * @param {string} heading
   * @param {string} words
   */
  showEmpty(heading, words) {
    this.#show(make("h2", {}, heading), make("p", {}, words));
  }

  /** There are entries, and they are up to date. */
  hide() {
    this.#show();
  }

  /** @param {HTMLElement[]} content */
  #show(...content) {
    this.hasFailed = false;
    this.element.hidden = content.length === 0;
    this.element.replaceChildren(...content);
  }
}
