/** Tabs by the ARIA pattern: arrow keys move between them, one panel is shown. */

import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface TabsProps {
  readonly label: string;
  readonly names: readonly string[];
  readonly current: string;
  /** Passing: by an arrow key, perhaps on the way to another one. */
  onChoose(name: string, isPassing: boolean): void;
  readonly children: ComponentChildren;
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowLeft: -1,
  Home: -Infinity,
  End: Infinity,
};

export function Tabs({ label, names, current, onChoose, children }: TabsProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);

  // On a narrow screen the strip scrolls: the chosen one is in sight, whatever led to it.
  useLayoutEffect(() => {
    const strip = list.current;
    const tab = strip?.querySelector('[aria-selected=true]')?.getBoundingClientRect();
    if (!strip || !tab) return;
    const { left, right } = strip.getBoundingClientRect();
    if (tab.left < left || tab.right > right)
      strip.scrollLeft += (tab.left + tab.right) / 2 - (left + right) / 2;
  }, [current]);

  function move(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const last = names.length - 1;
    const at = names.indexOf(current) + step;
    const next = Number.isFinite(step) ? (at + names.length) % names.length : step < 0 ? 0 : last;
    onChoose(names[next]!, true);
    (list.current?.children[next] as HTMLElement | undefined)?.focus();
  }

  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {names.map(name => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${names.indexOf(name)}`}
            aria-selected={name === current}
            aria-controls={`${id}-panel`}
            tabIndex={name === current ? 0 : -1}
            onClick={() => onChoose(name, false)}
          >
            {name}
          </button>
        ))}
      </div>
      <div
        class="panel"
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${names.indexOf(current)}`}
      >
        {children}
      </div>
    </>
  );
}
