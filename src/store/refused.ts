/** A store that cannot be used as it is: told at the start, or when a command asks for what it cannot do. */

/** The message names the fix. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
}
