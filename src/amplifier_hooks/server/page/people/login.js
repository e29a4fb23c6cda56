// @ts-check
// <login-view>: exchanges the one-time code from the server's terminal for a login.

import { make } from "../kit/dom.js";
import { drawLogo } from "../kit/icons.js";
import { View } from "../kit/view.js";
import { model } from "../link/model.js";

class LoginView extends View {
  #field = make("input", {
    id: "code",
    name: "code",
    autocomplete: "one-time-code",
    autocapitalize: "off",
    spellcheck: "false",
    required: true,
    "aria-describedby": "login-error login-help",
  });
  #error = make("p", { id: "login-error", class: "error", role: "alert" });

  show() {
    const button = make("button", { class: "primary", type: "submit" }, "Log in");
    const form = make(
      "form",
      { class: "login", onsubmit: (/** @type {Event} */ event) => this.#submit(event) },
      drawLogo(),
      make("h1", { tabindex: -1 }, "Log in to Amplifier"),
      make("label", { for: "code" }, "One-time code"),
      this.#field,
      this.#error,
      button,
      make("p", { id: "login-help", class: "quiet" }, "The code is printed where the server was started. It works once, for a few minutes; ", make("code", {}, "amplifier login-code"), " prints another."),
    );
    this.replaceChildren(form);
    this.#field.focus();
    this.listen(window, "hashchange", () => this.#useAddress());
    this.#useAddress();
  }

  #useAddress() {
    const code = takeCode();
    if (code) this.#send(code);
  }

  /** @param {Event} event */
  #submit(event) {
    event.preventDefault();
    this.#send(this.#field.value.trim());
  }

  /** @param {string} code */
  async #send(code) {
    this.#error.replaceChildren();
    try {
      await model.logIn(code);
    } catch (error) {
      this.#error.replaceChildren(error instanceof Error ? error.message : String(error));
      this.#field.select();
    }
  }
}

/** The code in the address, which is removed from there and from the history. */
function takeCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code") ?? "";
  if (code) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

customElements.define("login-view", LoginView);
