/** What the reference shows: taken from the OpenAPI document when the page is built. */

export interface ShownReference {
  readonly version: string;
  /** Paragraphs, as all texts here with `code` in backticks. */
  readonly description: readonly string[];
  readonly sections: readonly Section[];
  /** What each header says, by its name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly errorFields: readonly Member[];
  /** Many operations answer the same. */
  readonly answers: readonly Answer[];
}

export interface Section {
  /** Its tag. */
  readonly name: 'callers' | 'operators';
  readonly description: string;
  readonly operations: readonly Operation[];
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** The path with a real name in each place for one. */
  readonly target: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Member[];
  readonly body?: { readonly members: readonly Member[]; readonly example: object };
  /** Their places in the list of all answers, that of a call that went well first. */
  readonly answers: readonly number[];
}

/** A parameter, or a member of a body. */
export interface Member {
  readonly name: string;
  readonly type: string;
  readonly note?: string;
  readonly description: string;
}

export interface Answer {
  /** `other` stands for those that are not named. */
  readonly status: string;
  readonly description: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** None where the answer has no body. */
  readonly samples: readonly { readonly summary: string; readonly value: unknown }[];
  readonly fields?: readonly Member[];
}
