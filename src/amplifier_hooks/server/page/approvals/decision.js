// @ts-check
// Sending a decision: the same key each time, so that a lost answer can be asked for again.

import { ApiError, post } from "../link/api.js";
import { addEnd } from "../link/book.js";

/** @typedef {import("../types.js").Approval} Approval */
/** @typedef {import("../types.js").Decision} Decision */

const PAUSES = [300, 1000, 3000];

/** Somebody, or time, was first; `approval` is how it stands. */
export class DecidedAlready extends Error {
  /**
   * @param {string} message
   * @param {Approval | undefined} approval
   */
  constructor(message, approval) {
    super(message);
    this.approval = approval;
  }
}

/**
 * @param {string} id
 * @param {Decision} decision
 * @returns {Promise<Approval>}
 */
export async function sendDecision(id, decision) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return addEnd(await post(`/approvals/${encodeURIComponent(id)}/decision`, decision));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 409) throw readConflict(error);
      if (!mayPass(error) || attempt >= PAUSES.length) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSES[attempt]));
    }
  }
}

/** @param {ApiError} error */
function readConflict(error) {
  const { approval } = error.body;
  return new DecidedAlready(error.message, approval && addEnd(approval));
}

/** @param {ApiError} error */
function mayPass(error) {
  return error.status === 0 || error.status === 502 || error.status === 503 || error.status === 504;
}
