/** The last lookups of this browser, to go back to; the person can clear them and switch them off. */

import { keepsRecent, recent } from '../recent.ts';
import { domainHref } from '../route.ts';
import { useShared } from '../shared.ts';
import { usesShortcut } from '../shortcut.ts';
import { bandOf } from '../verdict.ts';

export function RecentLookups() {
  const names = useShared(recent);
  const isOn = useShared(keepsRecent);
  const isQuick = useShared(usesShortcut);
  return (
    <section class="recent" aria-labelledby="recent-title">
      <p class="recent-head">
        <strong id="recent-title">Recent lookups</strong>
        <button
          type="button"
          class="link"
          onClick={() => recent.set([])}
          disabled={names.length === 0}
          aria-label="Clear recent lookups"
        >
          Clear
        </button>
      </p>
      <ul class="chips">
        {names.map(({ domain, score }) => (
          <li key={domain}>
            <a class="chip" href={domainHref(domain)}>
              {domain} <b class={`band-${bandOf(score).name}`}>{score}</b>
            </a>
          </li>
        ))}
        {names.length === 0 && <li class="hint">{isOn ? 'None yet.' : 'Not kept.'}</li>}
      </ul>
      <p class="hint">Opening one that this tab has not looked up uses one lookup.</p>
      <label class="check">
        <input
          type="checkbox"
          checked={isOn}
          onChange={event => keepsRecent.set(event.currentTarget.checked)}
        />
        Keep recent lookups in this browser
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={isQuick}
          onChange={event => usesShortcut.set(event.currentTarget.checked)}
        />
        <span>
          Press <kbd>/</kbd> anywhere to search
        </span>
      </label>
    </section>
  );
}
