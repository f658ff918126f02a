/** How far a full table is emptied. */

/**
 * More than must go, by a twentieth of what may stay (hysteresis): finding what goes takes a scan of the whole table,
 * and a flood of names must not pay for that with every flush.
 */
export function rowsToRemove(present: number, most: number): number {
  return present > most ? present - most + most / 20 : 0;
}
