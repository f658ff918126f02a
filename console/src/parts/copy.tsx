/** A button that puts a text into the clipboard, and a block of code that has one. */

import { useEffect, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

function CopyButton({ text, what }: { text: string; what: string }) {
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready');
  useEffect(() => {
    if (state === 'ready') return;
    const timer = setTimeout(() => setState('ready'), 2_000);
    return () => clearTimeout(timer);
  }, [state]);

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setState('copied');
    } catch {
      // Plain http on another host than localhost has no clipboard.
      setState('failed');
    }
  }

  const word = { ready: 'Copy', copied: 'Copied', failed: 'Select it by hand' }[state];
  return (
    <>
      <button type="button" class="button small" onClick={() => void copy()} aria-label={`Copy ${what}`}>
        <Icon name={state === 'copied' ? 'check' : 'copy'} />
        <span class="copy-word">{word}</span>
      </button>
      <span class="hidden" role="status">
        {state === 'copied' && `The ${what} is in the clipboard`}
        {state === 'failed' && 'The clipboard cannot be used here'}
      </span>
    </>
  );
}

interface CodeProps {
  readonly text: string;
  /** Where it differs from what is shown: a secret that is masked. */
  readonly copied?: string;
  readonly what: string;
  /** One long line, shown whole. */
  readonly isWrapped?: boolean;
}

export function Code({ text, copied = text, what, isWrapped = false }: CodeProps) {
  return (
    <div class={`code ${isWrapped ? 'wrapped' : ''}`}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section tabIndex={0} aria-label={what}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
      <CopyButton text={copied} what={what} />
    </div>
  );
}
