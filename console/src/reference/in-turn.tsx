/** Cards that come one after the other: all at once held a slow phone for 700 ms (Lighthouse, 2026-11-17). */

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Shared, share } from '../shared.ts';

/** All of them are there. */
export const whole: Shared<boolean> = share(false);

const waiting: (() => void)[] = [];

function next(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setTimeout(next);
  else whole.set(true);
}

export function InTurn({ children }: { children: ComponentChildren }) {
  const [isIn, setIsIn] = useState(false);
  useEffect(() => {
    waiting.push(() => setIsIn(true));
    if (waiting.length === 1) setTimeout(next);
  }, []);
  return <>{isIn && children}</>;
}
