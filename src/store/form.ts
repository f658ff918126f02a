/** A change of the store's form, told before it begins: what is left for the version before. */

export interface FormChange {
  /** Where the store is as it was before; null where it is in a database server, whose copies are the operator's. */
  readonly copy: string | null;
  /** The version before can go on with what the change leaves. */
  readonly suitsPrevious: boolean;
}

export type OnFormChange = (change: FormChange) => void;

export function toldOf({ copy, suitsPrevious }: FormChange): string {
  const back = copy === null ? 'a dump made before' : `the copy ${copy}`;
  if (!suitsPrevious)
    return `the tables of the store change, and the version before cannot read them any more; the way back is ${back}`;
  // A database server restores its own dumps, whatever columns there are.
  const but = copy === null ? '' : ', but not restore backups that are made from now on';
  return `the tables of the store get new columns; the version before can go on with them${but}; ${back} has none of them`;
}
