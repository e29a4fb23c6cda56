// @ts-check
// Requests to the server's HTTP API.

import { parseExactly } from "../kit/json.js";

const ROOT = "/api/v1";
// The browser keeps it for this port only, while it sends cookies to every port of the host.
const CSRF = "amplifier-csrf";

/** A refusal or a failure in the server's words. */
export class ApiError extends Error {
  /**
   * @param {number} status  0 when the server was not reached
   * @param {string} message
   * @param {any} [body]
   */
  constructor(status, message, body = {}) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

/** @param {string} token  what proves that this page sends a request, as the login gave it */
export function keepCsrf(token) {
  if (token) localStorage.setItem(CSRF, token);
  else localStorage.removeItem(CSRF);
}

export function getCsrf() {
  return localStorage.getItem(CSRF) ?? "";
}

/**
 * @param {string} path
 * @param {Record<string, string | number | string[] | undefined>} [query]
 * @param {AbortSignal} [signal]
 */
export function get(path, query = {}, signal = undefined) {
  return send(path + formatQuery(query), { signal });
}

/**
 * The text of an answer that is no JSON.
 * @param {string} path
 * @param {AbortSignal} [signal]
 */
export async function getText(path, signal = undefined) {
  const response = await reach(path, { signal });
  const text = await response.text();
  if (!response.ok) refuse(response, readBody(text));
  return text;
}

/**
 * @param {string} path
 * @param {unknown} [body]
 */
export function post(path, body = {}) {
  const headers = { "Content-Type": "application/json" };
  return send(path, { method: "POST", headers, body: JSON.stringify(body) });
}

/** A name for one decision, so that sending it twice counts once. */
export function makeKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * @param {string} path
 * @param {RequestInit} options
 */
async function send(path, options) {
  const response = await reach(path, options);
  const text = await response.text();
  const body = readBody(text);
  if (response.ok) return body;
  refuse(response, body);
}

/**
 * @param {Response} response
 * @param {any} body
 */
function refuse(response, body) {
  const message = body?.error?.message ?? `The server answered ${response.status} ${response.statusText}`;
  if (response.status === 401) window.dispatchEvent(new Event("loginrequired"));
  throw new ApiError(response.status, message, body);
}

/**
 * @param {string} path
 * @param {RequestInit} options
 */
async function reach(path, options) {
  try {
    const headers = { ...options.headers, "X-Amplifier-CSRF": getCsrf() };
    return await fetch(ROOT + path, { ...options, headers, credentials: "same-origin", cache: "no-store" });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError(0, "The server cannot be reached");
  }
}

/** @param {string} text */
function readBody(text) {
  try {
    return text ? parseExactly(text) : {};
  } catch {
    return {};
  }
}

/** @param {Record<string, string | number | string[] | undefined>} query */
function formatQuery(query) {
  const parts = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    const values = Array.isArray(value) ? value : [value];
    for (const one of values) if (one !== undefined && one !== "") parts.append(key, String(one));
  }
  const text = parts.toString();
  return text ? `?${text}` : "";
}
