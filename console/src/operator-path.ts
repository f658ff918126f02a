/** The addresses of the operators' views, known before their code is loaded. */

export const TAB_NAMES = {
  home: 'Home',
  keys: 'Keys',
  overrides: 'Overrides',
  feeds: 'Feeds',
  hosts: 'Learned hosts',
  health: 'Health',
  decisions: 'Decisions',
  operators: 'Operators',
  audit: 'Audit',
} as const;
export type TabName = keyof typeof TAB_NAMES;
export const isTab = (name: string): name is TabName => Object.hasOwn(TAB_NAMES, name);

export const RANGES = { hour: 'Hour', day: 'Day', week: 'Week', month: 'Month' } as const;
export type Range = keyof typeof RANGES;
export const isRange = (text: string): text is Range => Object.hasOwn(RANGES, text);

/** What has pages of its own: `#/keys/<id>`, `#/hosts/<host>`. */
export const isPageOf = (first: string | undefined): first is 'keys' | 'hosts' =>
  first === 'keys' || first === 'hosts';

/** `#/operator`, a tab of it, a range of its home, or the page of a key or a host. */
export function isOperatorPath([first, second, third, ...rest]: readonly string[]): boolean {
  if (rest.length > 0) return false;
  if (isPageOf(first)) return !!second && third === undefined;
  if (first !== 'operator') return false;
  if (third !== undefined) return second === 'home' && isRange(third);
  return second === undefined || isTab(second);
}
