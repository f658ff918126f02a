/** The lists that the service judges by now, asked for with the first answer that names them. */

import { fetchText, parse } from './api.ts';
import { type Lists, listsOf } from './lists.ts';
import { share } from './shared.ts';

export const listsInUse = share<Lists | undefined>(undefined);

/** Once for each version of the lists; where readiness cannot be read, the version alone is shown. */
export async function noteLists(snapshot: string): Promise<void> {
  if (listsInUse.get()?.snapshot === snapshot) return;
  const heard = await fetchText({ path: '/readyz' });
  if (!('ok' in heard)) listsInUse.set(listsOf(parse(heard.text)));
}
