// @ts-check
// The shapes that the API sends, for the type checker and for readers; never loaded by the page.

/**
 * @typedef {{id: number, label: string, allows: boolean, remembered: boolean}} Option
 * @typedef {{persons: number, requester_may_approve: boolean, scope: string}} Requirement
 * @typedef {{by: string, via: string, at: number, option: string}} Vote
 * @typedef {{id: string, words: string}} OfferedScope
 * @typedef {Record<string, unknown>} Input
 */

/**
 * @typedef {object} ApprovalRequest
 * @property {string} session_id
 * @property {string} prompt
 * @property {Option[]} options
 * @property {number} timeout
 * @property {string} digest
 * @property {string} hook
 * @property {string} event
 * @property {string} reason
 * @property {string} tool_name
 * @property {string} tool_call_id
 * @property {Input} tool_input
 * @property {string} preview
 * @property {string[]} notes
 * @property {"allow" | "deny"} default
 * @property {boolean} editable
 * @property {string} requester
 * @property {string} machine
 * @property {string} working_dir
 * @property {Requirement} requirement
 */

/**
 * @typedef {"pending" | "approved" | "denied" | "expired" | "cancelled" | "executing" | "executed" |
 *   "failed" | "unknown"} Status
 */

/**
 * @typedef {object} Approval
 * @property {string} id
 * @property {string} nonce
 * @property {Status} status
 * @property {ApprovalRequest} request
 * @property {number} created
 * @property {number} deadline
 * @property {number} updated
 * @property {number} seconds_left
 * @property {Vote[]} votes
 * @property {string} option
 * @property {string} decided_by
 * @property {string} decided_via
 * @property {number | null} decided_at
 * @property {string} comment
 * @property {Input | null} edited_input
 * @property {string} rule_id
 * @property {string} outcome
 * @property {OfferedScope[]} [scopes]
 * @property {boolean} [isOld]  loaded because somebody looked further: no news
 * @property {number} ends  when its time is over, by this page's steady clock in milliseconds
 */

/**
 * @typedef {object} Decision
 * @property {number} option
 * @property {string} nonce
 * @property {string} key
 * @property {string} [comment]
 * @property {Input} [edited_input]
 * @property {{scope: string, seconds: number, uses: number | null}} [standing]
 */

/**
 * @typedef {object} Rule
 * @property {string} id
 * @property {string} author
 * @property {number} created
 * @property {number} expires
 * @property {string} hook
 * @property {string} event
 * @property {string} tool_name
 * @property {string} prompt
 * @property {string} scope
 * @property {string} machine
 * @property {string} working_dir
 * @property {string} approval_id
 * @property {number} uses
 * @property {number | null} uses_left
 * @property {number | null} last_used
 * @property {string} revoked_by
 * @property {number | null} revoked_at
 * @property {string} description
 * @property {string} question
 */

/**
 * @typedef {object} Session
 * @property {string} id
 * @property {string} machine
 * @property {string} user
 * @property {string} name
 * @property {string} bundle
 * @property {string} working_dir
 * @property {"running" | "waiting" | "idle" | "ended" | "failed" | "lost"} status
 * @property {number} created
 * @property {number} updated
 * @property {number} turns
 * @property {string} reply
 * @property {string} error
 * @property {string} parent_id
 * @property {boolean} hosted
 */

/**
 * @typedef {object} SessionRecord
 * @property {number} number
 * @property {number} time
 * @property {string} type
 * @property {string} event
 * @property {string} hook
 * @property {number} turn
 * @property {Record<string, any>} body
 */

/**
 * @typedef {{role: string, content: unknown, metadata?: Record<string, any>, tool_calls?: any[],
 *   name?: string, tool_call_id?: string}} Message
 * @typedef {{hour: number, hook: string, event: string, action: string, count: number,
 *   milliseconds: number, slowest: number, failures: number, timeouts: number, asked: number,
 *   allowed: number, refused: number, expired: number, overruled: number, injected_tokens: number,
 *   handed_over: number, not_run: number, not_known: number, contradicted: number,
 *   timed: number, within_1: number, within_5: number, within_25: number, within_100: number,
 *   within_500: number, within_2500: number}} HookFigures
 * @typedef {{hook: string, asked: number, allowed: number, denied: number, expired: number}} Overruling
 * @typedef {{name: string, scopes: string[], csrf: string}} Person
 * @typedef {{id: string, name: string, scopes: string[], created: number, expires: number | null,
 *   revoked: number | null, last_used: number | null}} Token
 */

export {};
