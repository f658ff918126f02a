/** What happens to a store when it is opened: a change of its form, told before it begins, or that its file is another one. */

export interface FormChange {
  /** Where the store is as it was before; null where it is in a database server, whose copies are the operator's. */
  readonly copy: string | null;
  /** The version before can go on with what the change leaves. */
  readonly suitsPrevious: boolean;
}

/** The file at `path` was exchanged, and what lay beside it, written for the one before, has other names now. */
export interface SetAside {
  readonly path: string;
  readonly aside: readonly string[];
}

export type OnFormChange = (change: FormChange | SetAside) => void;

export function toldOf(change: FormChange | SetAside): string {
  return 'aside' in change ? asideInWords(change) : changeInWords(change);
}

function asideInWords({ path, aside }: SetAside): string {
  return `${path} is another file than before: the journal of that one was set aside as ${aside.join(' and ')}. To go back, stop all servers, put that file back and give these their names back (without .aside-…)`;
}

function changeInWords({ copy, suitsPrevious }: FormChange): string {
  const back = copy === null ? 'a dump made before' : `the copy ${copy}`;
  if (!suitsPrevious)
    return `the tables of the store change, and the version before cannot read them any more; the way back is ${back}`;
  // A database server restores its own dumps, whatever columns there are.
  const but = copy === null ? '' : ', but not restore backups that are made from now on';
  return `the tables of the store get new columns; the version before can go on with them${but}; ${back} has none of them`;
}
