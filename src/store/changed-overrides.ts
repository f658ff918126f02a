/** Which overrides were changed lately, by the mark that each change has taken the place of: both stores keep it alike. */

/** After more there is no telling: then all of them are read. Telling of so many takes as long as a call may wait. */
export const CHANGES_KEPT = 1_000;
