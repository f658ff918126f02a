import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Catalog } from '../../src/core/catalog.ts';
import type { HostRecord } from '../../src/core/guest.ts';
import { foldingInfra, isLearnable, isLearned } from '../../src/core/infra.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import { catalogOf } from '../support/internet.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await catalogOf(['burner.com', 'temp-mail-host.net']);
});

function record(facts: Partial<HostRecord> = {}): HostRecord {
  return {
    name: 'mx.box.net',
    flagged: 20,
    innocent: 0,
    shared: false,
    forgotten: false,
    neighbours: ['burner.com'],
    lastDay: '2026-11-15',
    ...facts,
  };
}

describe('a host is learned', () => {
  it.each<[string, Partial<HostRecord>, boolean]>([
    ['by ten listed guests', { flagged: 10 }, true],
    ['not by nine', { flagged: 9 }, false],
    ['by five where its own domain is listed', { name: 'mx.temp-mail-host.net', flagged: 5 }, true],
    ['not by four there', { name: 'mx.temp-mail-host.net', flagged: 4 }, false],
    ['by more listed guests than others', { flagged: 20, innocent: 19 }, true],
    ['not by as many', { flagged: 20, innocent: 20 }, false],
    ['not when it is shared', { shared: true }, false],
    ['not when it was forgotten', { forgotten: true }, false],
    ['not when no neighbour is listed any more', { neighbours: ['was-listed.com'] }, false],
    ['not when a table knows it', { name: 'aspmx.l.google.com' }, false],
    ['not when it is a host of a protected domain', { name: 'mx.sdf.org' }, false],
    ['not when it is a host of a relay', { name: 'mx.duck.com' }, false],
    ['by its address as well', { name: '5.61.1.1', flagged: 10 }, true],
    ['by an address of version 6', { name: '2a00:1::1', flagged: 10 }, true],
    ['with ten guests at an address, not five', { name: '5.61.1.1', flagged: 9 }, false],
  ])('%s', (_, facts, expected) => {
    expect(isLearned(record(facts), catalog)).toBe(expected);
  });

  it('never, whatever the numbers, when innocent guests are not the fewer, or listed ones too few', () => {
    const counts = fc.record({ flagged: fc.nat(1_000), innocent: fc.nat(1_000), shared: fc.boolean() });
    fc.assert(
      fc.property(counts, facts => {
        const { flagged, innocent, shared } = facts;
        const expected = !shared && flagged >= 10 && flagged > innocent;
        expect(isLearned(record(facts), catalog)).toBe(expected);
      }),
    );
  });
});

describe('what was learned, for lookup', () => {
  const addresses: Record<string, string[]> = {
    'mx.new.net': ['5.61.1.1'],
    'mx.half.net': ['5.61.1.1', '5.61.1.2'],
    'mx.forgotten.net': ['5.61.1.1'],
    'mx.dead.net': [],
  };
  const find = (...hosts: string[]) =>
    allAtOnce(
      foldingInfra(
        [record(), record({ name: '5.61.1.1' }), record({ name: 'mx.forgotten.net', forgotten: true })],
        catalog,
        host => addresses[host],
      ),
    ).find(
      'fresh.com',
      hosts.map((host, preference) => ({ host, preference })),
      catalog,
    );

  it.each<[string, string[], 'name' | 'address' | undefined]>([
    ['a learned host', ['mx.box.net'], 'name'],
    ['a host at a learned address', ['mx.new.net'], 'address'],
    ['one of each', ['mx.box.net', 'mx.new.net'], 'address'],
    ['a learned host and one of the table', ['mx.box.net', 'mx.yopmail.com'], 'name'],
    ['a host with another address too', ['mx.half.net'], undefined],
    ['a host without address', ['mx.dead.net'], undefined],
    ['a host whose addresses are not known', ['mx.unknown.net'], undefined],
    ['a host that was forgotten, at a learned address', ['mx.forgotten.net'], undefined],
    ['a learned host and an unknown one', ['mx.box.net', 'mx.unknown.net'], undefined],
    ["the domain's own host", ['mx.fresh.com'], undefined],
    ['no host', [], undefined],
  ])('%s', (_, hosts, by) => {
    const found = find(...hosts);
    expect(found?.by).toBe(by);
    if (found) expect(found).toMatchObject({ hosts, neighbours: ['burner.com'] });
  });

  it('can be learned only of hosts that nobody knows, or knows as disposable', () => {
    expect(isLearnable('mx.box.net', catalog)).toBe(true);
    expect(isLearnable('mx.yopmail.com', catalog)).toBe(true);
    expect(isLearnable('mx1.riseup.net', catalog)).toBe(false);
    expect(isLearnable('route1.mx.cloudflare.net', catalog)).toBe(false);
  });
});
