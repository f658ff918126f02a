/** Express: a sign-up route that refuses risky domains. Run with DOMAIN_RISK_URL and DOMAIN_RISK_KEY set. */

import { createClient } from '@domain-risk/client';
import express from 'express';

const risk = createClient({
  baseUrl: process.env.DOMAIN_RISK_URL,
  apiKey: process.env.DOMAIN_RISK_KEY,
});

export const app = express();

app.post('/sign-up', express.json(), async (req, res) => {
  if (await risk.isRisky(req.body.email)) {
    res.status(422).json({ error: 'Please use another email address.' });
    return;
  }
  res.status(201).json({ welcome: req.body.email });
});
