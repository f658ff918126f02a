/** What the page has to say outside of a result: a failure with its way out, a warning, a wait. */

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Failure } from '../api.ts';
import { explain } from '../problem.ts';
import { Icon } from './icon.tsx';

interface NoticeProps {
  readonly tone: 'info' | 'warning' | 'error';
  readonly title?: string;
  readonly children?: ComponentChildren;
}

/** Errors interrupt a reader, the rest waits its turn. */
export function Notice({ tone, title, children }: NoticeProps) {
  return (
    <div class={`notice ${tone}`} role={tone === 'error' ? 'alert' : 'status'}>
      <Icon name={tone === 'info' ? 'info' : 'warning'} />
      <div>
        {title && <p class="notice-title">{title}</p>}
        {children}
      </div>
    </div>
  );
}

export function FailureNotice({
  failure,
  onRetry,
}: {
  failure: Failure;
  onRetry?: (() => void) | undefined;
}) {
  const { title, advice, canRetry } = explain(failure);
  const wait = useCountdown(failure);
  return (
    <Notice tone="error" title={title}>
      <p>{advice}</p>
      {failure.requestId && (
        <p class="hint">
          Request ID <code>{failure.requestId}</code>
        </p>
      )}
      {onRetry && canRetry && (
        <button type="button" class="button" onClick={onRetry} disabled={wait > 0}>
          Try again
          {/* Hidden from readers: the alert around it would be read out anew every second. */}
          {wait > 0 && <span aria-hidden="true"> in {wait} s</span>}
        </button>
      )}
    </Notice>
  );
}

/** Seconds until the service wants to be asked again. */
function useCountdown(failure: Failure): number {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    setLeft(Math.min(failure.retryAfter ?? 0, 60));
    const timer = setInterval(() => setLeft(now => Math.max(0, now - 1)), 1_000);
    return () => clearInterval(timer);
  }, [failure]);
  return left;
}

const SLOW_MS = 2_000;

/** In the place of what is being asked for; after two seconds it says that it still waits. */
export function Waiting({ for: what, doing = 'Loading' }: { for: string; doing?: string }) {
  const [isSlow, setIsSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class="waiting" role="status">
      <span class="spinner" aria-hidden="true" />
      {isSlow ? `Still waiting for ${what}: the service is slow to answer…` : `${doing} ${what}…`}
    </p>
  );
}

/** Nothing there yet, and what to do about it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
