/** The operator's side: everything behind ADMIN_TOKEN, one tab for each thing that can be run. */

import { useEffect, useState } from 'preact/hooks';
import { type Door, door, listKeys } from '../admin.ts';
import type { Failure } from '../api.ts';
import { Field, SecretField } from '../parts/field.tsx';
import { Empty, FailureNotice, Notice, Waiting } from '../parts/notice.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { route } from '../route.ts';
import { adminToken, operatorName } from '../session.ts';
import { useShared } from '../shared.ts';
import { Audit } from './operator/audit.tsx';
import { Decisions } from './operator/decisions.tsx';
import { FeedsTab, StaleNotice } from './operator/feeds.tsx';
import { Health } from './operator/health.tsx';
import { Home, isRange } from './operator/home.tsx';
import { Hosts } from './operator/hosts.tsx';
import { KeyPage } from './operator/key-page.tsx';
import { Keys, MadeSecret } from './operator/keys.tsx';
import { Operators } from './operator/operators.tsx';
import { Overrides } from './operator/overrides.tsx';

const TABS = {
  home: { name: 'Home', View: Home },
  keys: { name: 'Keys', View: Keys },
  overrides: { name: 'Overrides', View: Overrides },
  feeds: { name: 'Feeds', View: FeedsTab },
  hosts: { name: 'Learned hosts', View: Hosts },
  health: { name: 'Health', View: Health },
  decisions: { name: 'Decisions', View: Decisions },
  operators: { name: 'Operators', View: Operators },
  audit: { name: 'Audit', View: Audit },
} as const;
type TabName = keyof typeof TABS;
const isTab = (name: string): name is TabName => Object.hasOwn(TABS, name);

/** `#/operator`, a tab of it, a range of its home, or `#/keys/<id>`. */
export function isOperatorPath([first, second, third, ...rest]: readonly string[]): boolean {
  if (rest.length > 0) return false;
  if (first === 'keys') return !!second && third === undefined;
  if (first !== 'operator') return false;
  if (third !== undefined) return second === 'home' && isRange(third);
  return second === undefined || isTab(second);
}

async function enter(): Promise<void> {
  const { text: sent } = adminToken.get();
  door.set('waiting');
  const result = await listKeys();
  if (adminToken.get().text !== sent) return door.set('closed');
  door.set(result.ok ? 'open' : result);
}

export function Operator() {
  const state = useShared(door);
  return (
    <>
      <div class="intro">
        <h1 tabIndex={-1}>Operator</h1>
        <p>Traffic, keys, overrides, lists and health. Every change is recorded in the audit log.</p>
      </div>
      {state === 'open' ? <Inside /> : <Outside state={state} />}
      <MadeSecret />
    </>
  );
}

function Outside({ state }: { state: Exclude<Door, 'open'> }) {
  const { text: token, remembered } = useShared(adminToken);
  // One sign-in for the session: what this tab keeps is enough after a reload.
  useEffect(() => {
    if (remembered && token !== '' && state === 'closed') void enter();
  }, []);
  return (
    <div class="columns">
      <form
        class="card ask"
        onSubmit={event => {
          event.preventDefault();
          if (token !== '') void enter();
        }}
      >
        <SecretField
          label="Admin token"
          secret={adminToken}
          hint="The ADMIN_TOKEN that the service was started with."
        />
        <NameField />
        <button type="submit" class="button primary" disabled={token === '' || state === 'waiting'}>
          Sign in
        </button>
      </form>
      <div class="card tall">
        {state === 'closed' && (
          <Empty title="Operator sign-in">
            <p>
              Start the service with <code>ADMIN_TOKEN</code> to enable it. Everything here can be done on the
              command line too.
            </p>
          </Empty>
        )}
        {state === 'waiting' && <Waiting doing="Signing in" for="as operator" />}
        {typeof state === 'object' && <Refused failure={state} />}
      </div>
    </div>
  );
}

function Refused({ failure }: { failure: Failure }) {
  if (failure.status === 404)
    return (
      <Notice tone="error" title="Operator sign-in is not enabled">
        <p>
          Start the service with a token to enable it: set <code>ADMIN_TOKEN</code> to 32 characters or more
          (for example the output of <code>openssl rand -hex 32</code>) and start the service again.
        </p>
      </Notice>
    );
  if (failure.status === 401)
    return (
      <Notice tone="error" title="The token is not accepted">
        <p>
          It is not the <code>ADMIN_TOKEN</code> that this service was started with. An API key does not work
          here.
        </p>
      </Notice>
    );
  return <FailureNotice failure={failure} onRetry={() => void enter()} />;
}

function NameField() {
  const { text, remembered } = useShared(operatorName);
  return (
    <Field label="Your name" hint="Recorded in the audit log with each change.">
      {ids => (
        <input
          {...ids}
          value={text}
          maxLength={100}
          placeholder="operator"
          autocomplete="off"
          onInput={event => operatorName.set({ text: event.currentTarget.value, remembered })}
        />
      )}
    </Field>
  );
}

function Inside() {
  const [first, second = 'home'] = useShared(route);
  const isKey = first === 'keys';
  const { text: name } = useShared(operatorName);
  const [names] = useState(() => Object.values(TABS).map(one => one.name));
  const current: TabName = isKey ? 'keys' : isTab(second) ? second : 'home';
  const { View } = TABS[current];

  function choose(wanted: string): void {
    const [id] = Object.entries(TABS).find(([, one]) => one.name === wanted) ?? ['home'];
    location.replace(`#/operator/${id}`);
  }

  function leave(): void {
    adminToken.set({ text: '', remembered: false });
    door.set('closed');
  }

  return (
    <>
      <p class="toolbar">
        <span>
          Acting as <strong>{name.trim() || 'operator'}</strong>
        </span>
        <button type="button" class="button" onClick={leave}>
          Sign out
        </button>
      </p>
      <StaleNotice />
      <Tabs label="Operator" names={names} current={TABS[current].name} onChoose={choose}>
        {isKey ? <KeyPage key={second} id={second} /> : <View />}
      </Tabs>
    </>
  );
}
