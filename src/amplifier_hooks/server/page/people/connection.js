// @ts-check
// <connection-state>: says when the page is cut off, since that means nobody sees new questions.

import { make } from "../kit/dom.js";
import { View } from "../kit/view.js";
import { model } from "../link/model.js";

class ConnectionState extends View {
  #words = make("span", {});
  #retry = make("button", { type: "button", onclick: () => model.live.retryNow() }, "Try now");
  #begun = performance.now();

  show() {
    this.setAttribute("role", "status");
    this.replaceChildren(this.#words, this.#retry);
    this.listen(model.live, "state", () => this.#update());
    this.listen(model, "person", () => this.#update());
    this.repeat(1000, () => this.#update());
    this.#update();
  }

  #update() {
    const settling = performance.now() - this.#begun < 2000;
    const { isOpen, hasLostStore, retryAt } = model.live;
    this.hidden = (isOpen && !hasLostStore) || !model.person || settling;
    document.documentElement.classList.toggle("offline", !this.hidden);
    if (this.hidden) return;
    const why = hasLostStore ? "the server's database does not answer" : "the server cannot be reached";
    const left = Math.ceil((retryAt - performance.now()) / 1000);
    const next = left > 0 && !isOpen ? `Trying again in ${left} s.` : "Trying again…";
    const words = `Offline: ${why}. What you see may be out of date. ${next}`;
    this.#retry.hidden = isOpen;
    if (this.#words.textContent !== words) this.#words.textContent = words;
  }
}

customElements.define("connection-state", ConnectionState);
