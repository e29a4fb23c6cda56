// @ts-check
// <app-shell>: the frame around every view, with the ways to the others.

import { make } from "../kit/dom.js";
import { drawIcon, drawLogo } from "../kit/icons.js";
import { View } from "../kit/view.js";
import { model } from "../link/model.js";
import { readPermission, toggleNotifications } from "./attention.js";
import { announce, announceError } from "./notices.js";

/** @type {[string, string, string][]} */
const PLACES = [
  ["/", "inbox", "Inbox"],
  ["/approvals", "history", "History"],
  ["/sessions", "sessions", "Sessions"],
  ["/statistics", "statistics", "Statistics"],
  ["/rules", "rules", "Rules"],
];

export class AppShell extends View {
  main = make("main", { id: "main" });
  #count = make("span", { class: "count", hidden: true });

  show() {
    const brand = make("a", { class: "brand", href: "/" }, drawLogo(), make("span", {}, "Amplifier"));
    const places = model.mayAdminister ? [...PLACES, ["/tokens", "tokens", "Access"]] : PLACES;
    const links = places.map(([path, icon, name]) => this.#makeLink(path, icon, name));
    const skip = make("a", { class: "skip", href: "#main" }, "Skip to the content");
    const nav = make("nav", { "aria-label": "Views" }, links);
    this.replaceChildren(skip, make("header", { class: "top" }, brand, nav, this.#makeTools()), this.main);
    this.listen(model.approvals, "change", () => this.#showCount());
    this.#showCount();
  }

  /**
   * Put a view into the frame.
   * @param {HTMLElement} view
   * @param {string} path
   */
  open(view, path) {
    for (const link of this.querySelectorAll("nav a")) {
      const own = link.getAttribute("href") ?? "";
      const here = own === path || (own !== "/" && path.startsWith(`${own}/`));
      here ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
    }
    this.main.replaceChildren(view);
  }

  /**
   * @param {string} path
   * @param {string} icon
   * @param {string} name
   */
  #makeLink(path, icon, name) {
    return make("a", { href: path }, drawIcon(icon), make("span", {}, name), path === "/" && this.#count);
  }

  #makeTools() {
    const out = make("button", { type: "button", class: "plain", title: "Log out", "aria-label": "Log out", onclick: () => model.logOut().catch(announceError) }, drawIcon("out"));
    return make("div", { class: "tools" }, this.#makeBell(), make("span", { class: "person" }, model.person?.name ?? ""), out);
  }

  #makeBell() {
    if (readPermission() === "impossible") return null;
    const bell = make("button", { type: "button", class: "plain bell" }, drawIcon("bell"));
    const update = () => {
      const on = readPermission() === "on";
      bell.setAttribute("aria-pressed", String(on));
      bell.setAttribute("aria-label", "Desktop notifications");
      bell.title = on ? "Desktop notifications are on" : "Notify me when something waits";
    };
    bell.addEventListener("click", async () => {
      const state = await toggleNotifications();
      update();
      if (state === "refused") announce("This browser does not allow notifications from here; its settings for this page can change that.");
      else announce(state === "on" ? "You will be notified when something waits." : "No more notifications.");
    });
    update();
    return bell;
  }

  #showCount() {
    const { count } = model.approvals;
    this.#count.hidden = count === 0;
    this.#count.textContent = count > 999 ? "999+" : String(count);
  }
}

customElements.define("app-shell", AppShell);
