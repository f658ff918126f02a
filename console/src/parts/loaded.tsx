/** What an operator's tab shows: asked for when it opens, again after each change, with the old list in place meanwhile. */

import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Failure, Result } from '../api.ts';
import { focusHeading } from './dialog.tsx';
import { FailureNotice, Waiting } from './notice.tsx';

interface LoadedProps<T> {
  readonly what: string;
  load(): Promise<Result<T>>;
  children(data: T, reload: () => void): ComponentChildren;
}

export function Loaded<T>({ what, load, children }: LoadedProps<T>) {
  const [data, setData] = useState<T>();
  const [failure, setFailure] = useState<Failure>();
  const newest = useRef(0);
  const focused = useRef<Element>(null);
  const reload = useCallback(() => {
    newest.current += 1;
    const mine = newest.current;
    void load().then(result => {
      if (mine !== newest.current) return;
      focused.current = document.activeElement;
      setFailure(result.ok ? undefined : result);
      if (result.ok) setData(() => result.data);
    });
  }, [load]);
  useEffect(reload, [reload]);
  // The button that changed a row may have gone with it.
  useLayoutEffect(() => {
    if (focused.current && !focused.current.isConnected) focusHeading();
  }, [data]);
  // What was loaded before stays, and with it what is being typed in front of it.
  return (
    <>
      {failure && <FailureNotice failure={failure} onRetry={reload} />}
      {data !== undefined && children(data, reload)}
      {data === undefined && !failure && <Waiting for={what} />}
    </>
  );
}
