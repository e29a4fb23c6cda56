// @ts-check
// Which view an address shows. Links inside the page change the view without loading it again.

/** @type {[RegExp, string][]} */
const ROUTES = [
  [/^\/$/, "inbox-view"],
  [/^\/approvals$/, "history-view"],
  [/^\/approvals\/([^/]+)$/, "approval-view"],
  [/^\/sessions$/, "sessions-view"],
  [/^\/sessions\/([^/]+)$/, "session-view"],
  [/^\/rules$/, "rules-view"],
  [/^\/statistics$/, "statistics-view"],
  [/^\/tokens$/, "tokens-view"],
];

/**
 * The element of an address and the id in it.
 * @param {string} path
 */
export function findRoute(path) {
  for (const [pattern, tag] of ROUTES) {
    const match = pattern.exec(path);
    if (match) return { tag, id: decodePart(match[1] ?? "") };
  }
  return { tag: "missing-view", id: "" };
}

/** @param {string} part */
function decodePart(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @param {string} path */
export function navigate(path) {
  if (path !== location.pathname + location.search) history.pushState(null, "", path);
  window.dispatchEvent(new Event("routechange"));
}

/**
 * Call back now and whenever the address changes.
 * @param {() => void} show
 */
export function watchRoutes(show) {
  window.addEventListener("routechange", show);
  window.addEventListener("popstate", show);
  document.addEventListener("click", followLink);
  show();
}

/** @param {MouseEvent} event */
function followLink(event) {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  const plain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  if (!link || !plain || event.defaultPrevented || link.target || link.origin !== location.origin) return;
  if (link.hash && link.pathname === location.pathname) return;
  event.preventDefault();
  navigate(link.pathname + link.search);
}

/**
 * @param {"approvals" | "sessions"} kind
 * @param {string} id
 */
export function linkTo(kind, id) {
  return `/${kind}/${encodeURIComponent(id)}`;
}
