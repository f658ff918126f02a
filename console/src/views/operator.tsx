/** The operator's side: everything behind ADMIN_TOKEN, one tab for each thing that can be run. */

import { useState } from 'preact/hooks';
import { type Door, door } from '../admin.ts';
import { Empty } from '../parts/notice.tsx';
import { Refused, SignIn } from '../parts/sign-in.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { route } from '../route.ts';
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
  return (
    <div class="columns">
      <SignIn />
      <div class="card tall">
        {typeof state === 'object' ? (
          <Refused failure={state} />
        ) : (
          <Empty title="Operator sign-in">
            <p>
              It takes the <code>ADMIN_TOKEN</code> that the service was started with, or the token of an
              operator. Everything here can be done on the command line too.
            </p>
          </Empty>
        )}
      </div>
    </div>
  );
}

function Inside() {
  const [first, second = 'home'] = useShared(route);
  const isKey = first === 'keys';
  const [names] = useState(() => Object.values(TABS).map(one => one.name));
  const current: TabName = isKey ? 'keys' : isTab(second) ? second : 'home';
  const { View } = TABS[current];

  function choose(wanted: string): void {
    const [id] = Object.entries(TABS).find(([, one]) => one.name === wanted) ?? ['home'];
    location.replace(`#/operator/${id}`);
  }

  return (
    <>
      <StaleNotice />
      <Tabs label="Operator" names={names} current={TABS[current].name} onChoose={choose}>
        {isKey ? <KeyPage key={second} id={second} /> : <View />}
      </Tabs>
    </>
  );
}
