/**
 * A caller that was not written for this service: it knows the path, the key and the shapes of this family of APIs, has
 * types without null where it expects none, and takes nothing that is not exactly as it expects it.
 */

export interface FamilyCheck {
  readonly email: string;
  readonly is_risky: boolean;
  readonly risk_score: number;
  readonly reason: string;
  readonly deliverability_score: number;
  readonly did_you_mean: string | null;
  readonly is_free_provider: boolean;
  readonly is_corporate_email: boolean;
  readonly is_alias_email: boolean;
  readonly mx_provider_label: string | null;
}

export class FamilyError extends Error {
  readonly status: number;
  readonly resetAt: Date | undefined;

  constructor(status: number, message: string, resetAt?: Date) {
    super(message);
    this.status = status;
    this.resetAt = resetAt;
  }
}

type Rule = (value: unknown) => boolean;
const isText: Rule = value => typeof value === 'string' && value !== '';
const isFlag: Rule = value => typeof value === 'boolean';
const isCount: Rule = value => Number.isInteger(value) && (value as number) >= 0;
const isScore: Rule = value => isCount(value) && (value as number) <= 100;
const isDomainOrNull: Rule = value => value === null || /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(String(value));
const isMoment: Rule = value => isText(value) && !Number.isNaN(Date.parse(String(value)));

const CHECK: Readonly<Record<keyof FamilyCheck, Rule>> = {
  email: isText,
  is_risky: isFlag,
  risk_score: isScore,
  reason: value => ['safe', 'disposable', 'undeliverable', 'role_account'].includes(String(value)),
  deliverability_score: isScore,
  did_you_mean: isDomainOrNull,
  is_free_provider: isFlag,
  is_corporate_email: isFlag,
  is_alias_email: isFlag,
  mx_provider_label: value => value === null || isText(value),
};

const USAGE = { monthly_limit: isCount, month_count: isCount, remaining_month: isCount, reset_at: isMoment };
export type FamilyUsage = Readonly<Record<Exclude<keyof typeof USAGE, 'reset_at'>, number>>;

function strictly(value: unknown, rules: Readonly<Record<string, Rule>>): unknown {
  const members = Object.entries(value as Record<string, unknown>);
  const strange = members.filter(([name, member]) => !rules[name]?.(member));
  const missing = Object.keys(rules).filter(name => !members.some(([one]) => one === name));
  if (strange.length + missing.length > 0)
    throw new TypeError(`unexpected ${JSON.stringify(strange)}, missing ${missing}`);
  return value;
}

export class FamilyClient {
  readonly #base: string;
  readonly #key: string;

  constructor(base: string, key: string) {
    this.#base = base;
    this.#key = key;
  }

  async check(emailOrDomain: string): Promise<FamilyCheck> {
    return strictly(await this.#get(`/v1/check/${encodeURIComponent(emailOrDomain)}`), CHECK) as FamilyCheck;
  }

  async usage(query = ''): Promise<FamilyUsage> {
    return strictly(await this.#get(`/v1/usage${query}`), USAGE) as FamilyUsage;
  }

  async #get(path: string): Promise<unknown> {
    const response = await fetch(this.#base + path, { headers: { Authorization: `Bearer ${this.#key}` } });
    const body = (await response.json()) as Record<string, unknown>;
    if (response.ok) return body;
    throw errorOf(response.status, body);
  }
}

function errorOf(status: number, { message, detail, reset_at }: Record<string, unknown>): Error {
  const text = (value: unknown, name: string) => {
    if (isText(value)) return value as string;
    throw new TypeError(`${status} without ${name}`);
  };
  if (status === 401) return new FamilyError(status, 'Invalid API key');
  if (status === 403) return new FamilyError(status, 'Origin not authorised');
  if (status === 422) return new FamilyError(status, text(detail, 'detail'));
  if (status === 429) return new FamilyError(status, 'Quota exceeded', new Date(text(reset_at, 'reset_at')));
  return new FamilyError(status, text(message, 'message'));
}
