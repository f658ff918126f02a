/** Zod: a schema whose email must not be of a risky domain. Parse with `parseAsync` or `safeParseAsync`. */

import { createClient } from '@domain-risk/client';
import { z } from 'zod';

const risk = createClient({
  baseUrl: process.env.DOMAIN_RISK_URL,
  apiKey: process.env.DOMAIN_RISK_KEY,
});

export const SignUp = z.object({
  name: z.string().min(1),
  email: z.email().refine(async email => !(await risk.isRisky(email)), 'Please use another email address.'),
});
