// @ts-check
// Getting a person's attention: number in the title, badge, icon, spoken word, desktop notification.

import { escapeText, getFirstLine } from "../kit/escape.js";
import { linkTo } from "../kit/router.js";
import { model } from "../link/model.js";
import { readPrompt } from "../approvals/prompt.js";

/** @typedef {import("../types.js").Approval} Approval */

const WANTED = "amplifier:notify";
let title = "Amplifier";
/** @type {Set<string>} */
const told = new Set();
let first = true;

/** @param {string} words  what the view is about */
export function setTitle(words) {
  title = `${escapeText(words)} · Amplifier`;
  showCount();
}

export function watchApprovals() {
  model.approvals.addEventListener("change", () => {
    showCount();
    tellNews();
  });
}

/** Whether notifications are possible, wanted or refused. */
export function readPermission() {
  if (!("Notification" in window)) return "impossible";
  if (Notification.permission === "granted") return localStorage.getItem(WANTED) ? "on" : "off";
  return Notification.permission === "denied" ? "refused" : "off";
}

/** Switch notifications on or off; a browser asks the person when they are new. */
export async function toggleNotifications() {
  if (readPermission() === "on") localStorage.removeItem(WANTED);
  else if ((await Notification.requestPermission()) === "granted") {
    localStorage.setItem(WANTED, "yes");
    await register();
  }
  return readPermission();
}

function showCount() {
  const { count } = model.approvals;
  document.title = count ? `(${count}) ${title}` : title;
  const icon = document.querySelector('link[rel="icon"]');
  icon?.setAttribute("href", count ? "/static/icons/waiting.svg" : "/favicon.svg");
  const badge = /** @type {any} */ (navigator);
  if (badge.setAppBadge) (count ? badge.setAppBadge(count) : badge.clearAppBadge()).catch(() => {});
}

function tellNews() {
  const unknown = model.approvals.listPending().filter((one) => !told.has(one.id));
  for (const one of unknown) told.add(one.id);
  const news = unknown.filter((one) => !one.isOld);
  if (!news.length) return;
  const count = first ? model.approvals.count : news.length;
  speak(count === 1 ? `Approval needed: ${describe(news[0])}` : `${count} approvals are waiting`);
  const away = document.hidden || !document.hasFocus();
  if (readPermission() === "on" && (away || first)) for (const one of news.slice(0, 3)) notify(one);
  first = false;
}

/** @param {string} words */
function speak(words) {
  const region = document.getElementById("spoken");
  if (region) region.textContent = words;
}

/** @param {Approval} approval */
function describe(approval) {
  return getFirstLine(readPrompt(approval.request).headline);
}

/** @param {Approval} approval */
async function notify(approval) {
  const { hook, machine } = approval.request;
  const body = getFirstLine([hook, machine].filter(Boolean).join(" on "));
  const options = { body, tag: approval.id, icon: "/static/icons/icon-192.png", data: linkTo("approvals", approval.id) };
  const registration = await register().catch(() => null);
  // Phones show notifications only through a service worker.
  if (registration) await registration.showNotification(describe(approval), options);
  else new Notification(describe(approval), options).addEventListener("click", () => window.focus());
}

async function register() {
  if (!("serviceWorker" in navigator)) return null;
  const registration = await navigator.serviceWorker.register("/static/notifier.js");
  const worker = registration.installing ?? registration.waiting;
  if (!registration.active && worker) await waitUntilActive(worker);
  return registration;
}

/** @param {ServiceWorker} worker */
function waitUntilActive(worker) {
  return new Promise((resolve) => {
    worker.addEventListener("statechange", () => worker.state === "activated" && resolve(null));
  });
}
