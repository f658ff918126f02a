/** Does something again and again while the page can be seen, and at once when it is seen again. */

import { useEffect, useRef } from 'preact/hooks';

export function useEvery(milliseconds: number, act: () => void, isOn = true): void {
  // Known as soon as it is drawn: effects end a frame later, and what was paused would be done once more.
  const newest = useRef<(() => void) | undefined>(undefined);
  newest.current = isOn ? act : undefined;
  useEffect(() => {
    if (!isOn) return;
    const again = () => {
      if (!document.hidden) newest.current?.();
    };
    const timer = setInterval(again, milliseconds);
    document.addEventListener('visibilitychange', again);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', again);
    };
  }, [milliseconds, isOn]);
}
