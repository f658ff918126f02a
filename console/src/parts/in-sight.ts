/** On a phone an answer lies below the form: whoever asked wants to see it. */

import { useEffect, useRef } from 'preact/hooks';

/** For what comes into sight, unless it is there already, whenever one of these changes and something is to be seen. */
export function useInSight<T extends HTMLElement>(isWanted: boolean, ...changes: readonly unknown[]) {
  const shown = useRef<T>(null);
  useEffect(() => {
    const top = shown.current?.getBoundingClientRect().top ?? 0;
    if (isWanted && (top > innerHeight / 2 || top < 0)) shown.current?.scrollIntoView({ block: 'start' });
  }, [isWanted, ...changes]);
  return shown;
}
