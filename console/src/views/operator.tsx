/** The operator's side: everything behind ADMIN_TOKEN, one tab for each thing that can be run. */

import { type Door, door } from '../door.ts';
import { isPageOf, isTab, TAB_NAMES, type TabName } from '../operator-path.ts';
import { Empty } from '../parts/notice.tsx';
import { Refused, SignIn } from '../parts/sign-in.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { route } from '../route.ts';
import { useShared } from '../shared.ts';
import { Audit } from './operator/audit.tsx';
import { Decisions } from './operator/decisions.tsx';
import { FeedsTab, StaleNotice } from './operator/feeds.tsx';
import { Health } from './operator/health.tsx';
import { Home } from './operator/home.tsx';
import { HostPage } from './operator/host-page.tsx';
import { Hosts } from './operator/hosts.tsx';
import { KeyPage } from './operator/key-page.tsx';
import { Keys, MadeSecret } from './operator/keys.tsx';
import { MadeToken, Operators } from './operator/operators.tsx';
import { Overrides } from './operator/overrides.tsx';

const VIEWS: Readonly<Record<TabName, () => preact.JSX.Element>> = {
  home: Home,
  keys: Keys,
  overrides: Overrides,
  feeds: FeedsTab,
  hosts: Hosts,
  health: Health,
  decisions: Decisions,
  operators: Operators,
  audit: Audit,
};

const NAMES = Object.values(TAB_NAMES);

export function Operator() {
  const state = useShared(door);
  return (
    <>
      <div class="intro">
        <h1 tabIndex={-1}>Operator</h1>
        <p>Traffic, keys, overrides, lists and health. Every change is recorded in the audit log.</p>
      </div>
      {state === 'open' ? <Inside /> : <Outside state={state} />}
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

/** Pages of one thing, below the tab of all of them. */
const PAGES = {
  keys: (id: string) => <KeyPage key={id} id={id} />,
  hosts: (host: string) => <HostPage key={host} host={host} />,
};

function Inside() {
  const [first, second = 'home'] = useShared(route);
  const current: TabName = isPageOf(first) ? first : isTab(second) ? second : 'home';
  const View = VIEWS[current];

  /** Whoever goes through the tabs by arrow keys comes back to where they began. */
  function choose(wanted: string, isPassing: boolean): void {
    const [id] = Object.entries(TAB_NAMES).find(([, name]) => name === wanted) ?? ['home'];
    if (isPassing) location.replace(`#/operator/${id}`);
    else location.hash = `#/operator/${id}`;
  }

  return (
    <>
      <StaleNotice />
      <Tabs label="Operator" names={NAMES} current={TAB_NAMES[current]} onChoose={choose}>
        {isPageOf(first) ? PAGES[first](second) : <View />}
      </Tabs>
      <MadeSecret />
      <MadeToken />
    </>
  );
}
