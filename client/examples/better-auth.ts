/** Better Auth: no account for a risky domain, whichever way it signs up. Set DOMAIN_RISK_URL and DOMAIN_RISK_KEY. */

import { createClient } from '@domain-risk/client';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { APIError } from 'better-auth/api';

const risk = createClient({
  baseUrl: process.env.DOMAIN_RISK_URL,
  apiKey: process.env.DOMAIN_RISK_KEY,
});

export const auth = betterAuth({
  baseURL: 'http://localhost:3000',
  secret: process.env.BETTER_AUTH_SECRET!,
  // Your own database here.
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
  emailAndPassword: { enabled: true },
  databaseHooks: {
    user: {
      create: {
        before: async user => {
          if (await risk.isRisky(user.email)) {
            throw new APIError('UNPROCESSABLE_ENTITY', { message: 'Please use another email address.' });
          }
        },
      },
    },
  },
});
