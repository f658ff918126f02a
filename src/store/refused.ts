/** A store that cannot be used as it is: told at the start, or when a command asks for what it cannot do. */

export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
  readonly problem: string;

  /** `fix`: what whoever reads it can do. */
  constructor(problem: string, fix: string, options?: ErrorOptions) {
    super(`${problem}: ${fix}`, options);
    this.problem = problem;
  }
}
