// @ts-check
// Small drawings of our own, in the colour of the text beside them.

import { draw } from "./dom.js";

/** @type {Record<string, string>} */
const PATHS = {
  inbox: "M3 12h5l1.5 3h5L16 12h5M5 5h14l2 7v7H3v-7z",
  history: "M4 12a8 8 0 1 0 2.5-5.8M4 4v4h4M12 8v4l3 2",
  sessions: "M4 5h16v11H4zM9 20h6M12 16v4M7.5 9l2 1.8-2 1.7M12 12.5h3.5",
  rules: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM9 12l2 2 4-4.5",
  statistics: "M4 20h16M6.5 17v-5M11 17V6M15.5 17V9.5M20 17V13",
  tokens: "M14.5 9.5a4 4 0 1 1-2.6-3.7M12 10l8.5 8.5M17 15l2.2-2.2M14.7 12.7l1.8-1.8",
  bell: "M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15zM10 20.5h4",
  out: "M10 4H5v16h5M14 8l4 4-4 4M18 12H9",
};

/** @param {string} name */
export function drawIcon(name) {
  const path = draw("path", { d: PATHS[name] });
  return draw("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, path);
}

/** The sign of the product: a gate with a hand's breadth left open. */
export function drawLogo() {
  return draw(
    "svg",
    { class: "logo", viewBox: "0 0 32 32", "aria-hidden": "true" },
    draw("rect", { width: 32, height: 32, rx: 8 }),
    draw("path", { d: "M8 23 14.5 8h3L24 23M11 17.5h10" }),
    draw("circle", { cx: 25, cy: 7, r: 4 }),
  );
}
