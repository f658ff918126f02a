/** When keys were counted last, in either store. */

export const LAST_USES =
  'SELECT key_id, max(last_at) AS last_at FROM usage WHERE last_at IS NOT NULL GROUP BY key_id';
