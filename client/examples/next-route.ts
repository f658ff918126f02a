/** Next.js: `app/api/sign-up/route.ts`, for the Node and the Edge runtime. Set DOMAIN_RISK_URL and DOMAIN_RISK_KEY. */

import { createClient } from '@domain-risk/client';

const risk = createClient({
  baseUrl: process.env.DOMAIN_RISK_URL,
  apiKey: process.env.DOMAIN_RISK_KEY,
});

export async function POST(request: Request): Promise<Response> {
  const { email } = await request.json();
  // When the visitor leaves, so does the question.
  if (await risk.isRisky(email, { signal: request.signal })) {
    return Response.json({ error: 'Please use another email address.' }, { status: 422 });
  }
  return Response.json({ welcome: email }, { status: 201 });
}
