// @ts-check
// <connection-state>: says when the page is cut off, since that means nobody sees new questions.

import { make } from "../kit/dom.js";
import { View } from "../kit/view.js";
import { model } from "../link/model.js";

class ConnectionState extends View {
  #words = make("span", {});
  #begun = performance.now();

  show() {
    this.setAttribute("role", "status");
    const retry = make("button", { type: "button", onclick: () => model.live.retryNow() }, "Try now");
    this.replaceChildren(this.#words, retry);
    this.listen(model.live, "state", () => this.#update());
    this.listen(model, "person", () => this.#update());
    this.repeat(1000, () => this.#update());
    this.#update();
  }

  #update() {
    const settling = performance.now() - this.#begun < 2000;
    this.hidden = model.live.isOpen || !model.person || settling;
    document.documentElement.classList.toggle("offline", !this.hidden);
    if (this.hidden) return;
    const left = Math.ceil((model.live.retryAt - performance.now()) / 1000);
    const words = `Offline: the server cannot be reached. ${left > 0 ? `Trying again in ${left} s.` : "Trying again…"}`;
    if (this.#words.textContent !== words) this.#words.textContent = words;
  }
}

customElements.define("connection-state", ConnectionState);
