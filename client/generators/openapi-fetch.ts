/** A client of openapi-typescript's types, as somebody would write it who has only the OpenAPI document. */

import createClient from 'openapi-fetch';
import type { paths } from './made/types.d.ts';

export async function smoke(baseUrl: string, key: string): Promise<unknown[]> {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } });
  const domain = await client.GET('/v1/public/domain/{domain}', {
    params: { path: { domain: 'mailinator.com' }, query: { explain: true } },
  });
  const top = await client.GET('/v1/public/top-domains', { params: { query: { limit: 3 } } });
  const usage = await client.GET('/v1/usage');
  const check = await client.GET('/v1/check/{email_or_domain}', {
    params: { path: { email_or_domain: 'jane@gmail.com' } },
  });
  const wrong = await client.GET('/v1/public/domain/{domain}', { params: { path: { domain: 'a_b.com' } } });
  const score: number | undefined = domain.data?.risk_score;
  const remaining: number | null | undefined = usage.data?.remaining_month;
  return [
    score,
    domain.data?.evidence?.signals[0]?.signal,
    top.data?.domains.length,
    typeof remaining,
    check.data?.reason,
    wrong.response.status,
    wrong.error?.error,
  ];
}
