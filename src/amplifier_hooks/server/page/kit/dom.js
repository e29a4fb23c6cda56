// @ts-check
// Elements. Every string that becomes a child or an attribute is escaped and never read as HTML.

import { ESCAPED, TAB, escapeText } from "./escape.js";

/** @typedef {Node | string | number | null | undefined | false} Child */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element with attributes (`onclick` and the like are listeners) and children.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) setAttribute(element, key, value);
  element.append(...toNodes(children.flat()));
  return element;
}

/**
 * An SVG element.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...Child} children
 */
export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) setAttribute(element, key, value);
  element.append(...toNodes(children));
  return element;
}

/**
 * Foreign text on one line, its escapes marked.
 * @param {string} text
 */
export function showText(text) {
  return markEscapes(escapeText(text));
}

/**
 * Foreign text with its own line breaks, its escapes marked.
 * @param {string} text
 */
export function showLines(text) {
  return markEscapes(escapeText(text, true));
}

/**
 * Nodes for a text that is escaped already.
 * @param {string} shown
 */
export function markEscapes(shown) {
  const fragment = document.createDocumentFragment();
  let end = 0;
  for (const match of shown.matchAll(ESCAPED)) {
    if (match.index > end) fragment.append(shown.slice(end, match.index));
    const mark = document.createElement("span");
    mark.className = match[0] === TAB ? "tab" : "escape";
    mark.append(match[0]);
    fragment.append(mark);
    end = match.index + match[0].length;
  }
  if (end < shown.length) fragment.append(shown.slice(end));
  return fragment;
}

/**
 * @param {Element} element
 * @param {string} key
 * @param {unknown} value
 */
function setAttribute(element, key, value) {
  if (value === undefined || value === null || value === false) return;
  if (typeof value === "function") {
    element.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
  } else if (key === "value") {
    /** @type {HTMLInputElement} */ (element).value = String(value);
  } else {
    element.setAttribute(key, value === true ? "" : escapeText(String(value)));
  }
}

/** @param {Child[]} children */
function toNodes(children) {
  return children
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : showText(String(child))));
}
