/** What an operator's tab shows: asked for when it opens, again after each change, with the old list in place meanwhile. */

import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Failure, Result } from '../api.ts';
import { FailureNotice, Waiting } from './notice.tsx';

interface LoadedProps<T> {
  readonly what: string;
  load(): Promise<Result<T>>;
  children(data: T, reload: () => void): ComponentChildren;
}

export function Loaded<T>({ what, load, children }: LoadedProps<T>) {
  const [data, setData] = useState<T>();
  const [failure, setFailure] = useState<Failure>();
  const reload = useCallback(() => {
    void load().then(result => {
      setFailure(result.ok ? undefined : result);
      if (result.ok) setData(() => result.data);
    });
  }, [load]);
  useEffect(reload, [reload]);
  // What was loaded before stays: a dialog in front of it may hold a secret that is shown only once.
  return (
    <>
      {failure && <FailureNotice failure={failure} onRetry={reload} />}
      {data !== undefined && children(data, reload)}
      {data === undefined && !failure && <Waiting for={what} />}
    </>
  );
}
