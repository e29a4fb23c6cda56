// @ts-check
// Where the page begins.

import "./approvals/approval_view.js";
import "./approvals/inbox_view.js";
import "./people/connection.js";
import "./people/login.js";
import { queue } from "./approvals/queue.js";
import { make } from "./kit/dom.js";
import { findRoute, navigate, watchRoutes } from "./kit/router.js";
import { model } from "./link/model.js";
import { setTitle, watchApprovals } from "./people/attention.js";
import { AppShell } from "./people/shell.js";

const root = /** @type {HTMLElement} */ (document.getElementById("app"));

// Views that are loaded when somebody goes there.
/** @type {Record<string, () => Promise<unknown>>} */
const LATER = {
  "history-view": () => import("./approvals/history_view.js"),
  "rules-view": () => import("./people/rules_view.js"),
  "tokens-view": () => import("./people/tokens_view.js"),
  "session-view": () => import("./sessions/session_view.js"),
  "sessions-view": () => import("./sessions/sessions_view.js"),
  "statistics-view": () => import("./statistics/statistics_view.js"),
};

/** @type {AppShell | null} */
let shell = null;

function showPerson() {
  shell = null;
  if (!model.person) {
    setTitle("Log in");
    root.replaceChildren(document.createElement("login-view"));
    return;
  }
  shell = new AppShell();
  root.replaceChildren(shell);
  showRoute();
}

async function showRoute() {
  const path = location.pathname;
  const { tag, id } = findRoute(path);
  await LATER[tag]?.();
  if (!shell || path !== location.pathname) return;
  const view = tag === "missing-view" ? makeMissing() : document.createElement(tag);
  view.dataset.id = id;
  shell.open(view, path);
  const heading = view.querySelector("h1");
  setTitle(heading?.textContent ?? "Approvals");
  heading?.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function makeMissing() {
  const heading = make("h1", { tabindex: -1 }, "There is nothing here");
  return make("section", {}, heading, make("p", {}, make("a", { href: "/" }, "Go to the inbox")));
}

function openFromNotification() {
  navigator.serviceWorker?.addEventListener("message", (event) => {
    if (event.data?.type === "open" && String(event.data.path).startsWith("/approvals/")) navigate(event.data.path);
  });
}

async function start() {
  watchApprovals();
  queue.start();
  openFromNotification();
  model.addEventListener("person", showPerson);
  watchRoutes(showRoute);
  await recognise();
  document.documentElement.dataset.ready = "yes";
}

async function recognise() {
  try {
    if (!(await model.recognise())) showPerson();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    root.replaceChildren(make("p", { class: "lonely", role: "alert" }, `${why.replace(/\.$/, "")}; trying again…`));
    setTimeout(recognise, 2000);
  }
}

start();
