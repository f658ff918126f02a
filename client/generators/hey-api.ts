/** A client that @hey-api/openapi-ts has written. */

import { createClient } from './made/hey/client/index.ts';
import { checkEmail, getDomain, getUsage, listTopDomains } from './made/hey/index.ts';

export async function smoke(baseUrl: string, key: string): Promise<unknown[]> {
  const client = createClient({ baseUrl, auth: () => key });
  const domain = await getDomain({ client, path: { domain: 'mailinator.com' }, query: { explain: true } });
  const top = await listTopDomains({ client, query: { limit: 3 } });
  const usage = await getUsage({ client });
  const check = await checkEmail({ client, path: { email_or_domain: 'jane@gmail.com' } });
  const wrong = await getDomain({ client, path: { domain: 'a_b.com' } });
  const score: number | undefined = domain.data?.risk_score;
  const remaining: number | null | undefined = usage.data?.remaining_month;
  return [
    score,
    domain.data?.evidence?.signals[0]?.signal,
    top.data?.domains.length,
    typeof remaining,
    check.data?.reason,
    wrong.response?.status,
    wrong.error?.error,
  ];
}
