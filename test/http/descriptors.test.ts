import { expect, test } from 'vitest';
import { portsOf, sharesOf } from '../../src/http/descriptors.ts';

/** Of the store, files and threads, at the most. */
const OWN = 88;
const OF_WORKER = 8;

test.each([256, 300, 512, 1_024, 4_096, 20_000, 1_000_000])(
  'with %i descriptors the connections of both ports, those that were told to go, DNS and the rest add up, and so does memory',
  limit => {
    for (const workers of [1, 2, 4])
      for (const isApart of [false, true]) {
        const { callers, operators } = portsOf(workers, isApart, limit);
        const ofPorts = [callers, operators].flatMap(one => [one.mostConnections, one.mostTold]);
        const connections = ofPorts.reduce((sum, one) => sum + one, 0) * workers;
        const { dns } = sharesOf(workers, limit);
        expect(connections + dns + OWN + OF_WORKER * workers).toBeLessThanOrEqual(limit);
        expect(callers.mostConnections).toBeGreaterThan(operators.mostConnections);
        expect(operators.mostConnections > 0).toBe(isApart);
        expect((callers.share + operators.share) * workers).toBe(1);
      }
  },
);

test('most of many descriptors are for connections that have a place', () => {
  expect(portsOf(1, true, 1_000_000)).toEqual({
    callers: { mostConnections: 20_000 - 256 - 64, mostTold: 64, share: 0.75 },
    operators: { mostConnections: 192, mostTold: 64, share: 0.25 },
  });
  expect(portsOf(1, false, 1_024).callers).toEqual({ mostConnections: 652, mostTold: 64, share: 1 });
});
