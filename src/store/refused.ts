/** A store that cannot be used as it is: told at the start, or when a command asks for what it cannot do. */

export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
  readonly problem: string;
  /** What whoever reads it can do. */
  readonly fix: string;

  constructor(problem: string, fix: string, options?: ErrorOptions) {
    super(`${problem}: ${fix}`, options);
    this.problem = problem;
    this.fix = fix;
  }
}
