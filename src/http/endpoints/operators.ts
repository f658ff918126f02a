/** All that operators can do over HTTP, as rows of the table of routes. */

import type { Doors } from '../doors.ts';
import type { Route } from '../routes.ts';
import { operatorRoutes } from '../routes-of-operators.ts';
import { type AppointedParts, appointedEndpoints } from './appointed.ts';
import { auditEndpoints } from './audit.ts';
import { type DecisionParts, decisionEndpoints } from './decisions.ts';
import { type FeedParts, feedEndpoints } from './feeds.ts';
import { type HostParts, hostEndpoints } from './hosts.ts';
import { type KeyParts, keyEndpoints } from './keys.ts';
import { overrideEndpoints } from './overrides.ts';
import { type TrafficEndpointParts, trafficEndpoints } from './traffic.ts';

export function operatorEndpoints(
  doors: Doors,
  parts: FeedParts & TrafficEndpointParts & DecisionParts & KeyParts & AppointedParts & HostParts,
): Route[] {
  return operatorRoutes(doors, {
    keys: keyEndpoints(parts),
    overrides: overrideEndpoints(parts),
    hosts: hostEndpoints(parts),
    feeds: feedEndpoints(parts),
    audit: auditEndpoints(parts),
    traffic: trafficEndpoints(parts),
    decisions: decisionEndpoints(parts),
    appointed: appointedEndpoints(parts),
  });
}
