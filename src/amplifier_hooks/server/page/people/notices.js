// @ts-check
// Short words about what happened: seen for a while, and read aloud.

import { make } from "../kit/dom.js";

const SHOWN = 6000;
const MOST = 3;

/** @param {string} words */
export function announce(words) {
  const region = document.getElementById("notices");
  if (!region) return;
  const notice = make("p", { class: "notice" }, words);
  region.append(notice);
  while (region.children.length > MOST) region.firstElementChild?.remove();
  setTimeout(() => notice.remove(), SHOWN);
}

/** @param {unknown} error */
export function announceError(error) {
  announce(error instanceof Error ? error.message : String(error));
}
