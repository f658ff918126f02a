import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Catalog } from '../../src/core/catalog.ts';
import type { HostRecord } from '../../src/core/guest.ts';
import { foldingInfra, isLearnable, isLearned } from '../../src/core/infra.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import { catalogOf } from '../support/catalog.ts';

/** In the order of the list. */
const LISTED = ['burner.com', 'temp-mail-host.net', 'third.com', 'fourth.com'];

let catalog: Catalog;
beforeAll(async () => {
  catalog = await catalogOf(LISTED);
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
    ['when one of its neighbours is still listed', { neighbours: ['was-listed.com', 'burner.com'] }, true],
    ['not when it is a host of a consumer mail domain', { name: 'mx.web.de' }, false],
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
    'mx.twice.net': ['5.61.1.1', '5.61.1.3'],
    'own.fresh.com': ['5.61.1.1'],
    'mx.few.net': ['5.61.1.1'],
    'mx.web.de': ['5.61.1.1'],
    'mx.forgotten.net': ['5.61.1.1'],
    'mx.dead.net': [],
  };
  const find = (...hosts: string[]) =>
    allAtOnce(
      foldingInfra(
        [
          record({ neighbours: ['was-listed.com', 'burner.com'] }),
          record({ name: 'mx.second.net', neighbours: LISTED }),
          record({ name: '5.61.1.1' }),
          record({ name: '5.61.1.3' }),
          record({ name: 'mx.few.net', flagged: 1 }),
          record({ name: 'mx.fresh.com' }),
          record({ name: 'fresh.com' }),
          record({ name: 'mx.notfresh.com' }),
          record({ name: 'mx.forgotten.net', forgotten: true }),
        ],
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
    ['a host that was seen, but not learned, at a learned address', ['mx.few.net'], 'address'],
    ['a host without address', ['mx.dead.net'], undefined],
    ['a learned host and one without address', ['mx.box.net', 'mx.dead.net'], undefined],
    ['a host whose addresses are not known', ['mx.unknown.net'], undefined],
    ['a host that was forgotten, at a learned address', ['mx.forgotten.net'], undefined],
    ['a learned host and an unknown one', ['mx.box.net', 'mx.unknown.net'], undefined],
    ["the domain's own host, though it is learned", ['mx.fresh.com'], undefined],
    ['the domain itself as its host, though it is learned', ['fresh.com'], undefined],
    ["the domain's own host at a learned address", ['own.fresh.com'], undefined],
    ["a learned host and the domain's own", ['mx.box.net', 'mx.fresh.com'], undefined],
    ['a host of a domain whose name only ends so', ['mx.notfresh.com'], 'name'],
    ['a host of which both addresses are learned', ['mx.twice.net'], 'address'],
    ['a host of a consumer mail domain, at a learned address', ['mx.web.de'], undefined],
    ['hosts of the table only', ['mx.yopmail.com'], undefined],
    ['no host', [], undefined],
  ])('%s', (_, hosts, by) => {
    const found = find(...hosts);
    expect(found?.by).toBe(by);
    if (found) expect(found).toMatchObject({ hosts, neighbours: ['burner.com'] });
  });

  it('names three neighbours at most, each once, and none that is not listed any more', () => {
    expect(find('mx.box.net', 'mx.second.net')?.neighbours).toEqual(['burner.com', ...LISTED.slice(1, 3)]);
  });

  it('is told by the number of hosts and addresses', () => {
    const infra = (...records: HostRecord[]) => allAtOnce(foldingInfra(records, catalog, () => undefined));
    expect(infra().size).toBe(0);
    expect(
      infra(record(), record({ name: '5.61.1.1' }), record({ name: 'mx.few.net', flagged: 1 })).size,
    ).toBe(2);
  });

  it('has no say for a domain that belongs to nobody, nor where nothing was learned', () => {
    const fold = (records: HostRecord[]) => allAtOnce(foldingInfra(records, catalog, () => undefined));
    const exchanges = [{ host: 'mx.box.net', preference: 0 }];
    expect(fold([record()]).find(undefined, exchanges, catalog)).toMatchObject({ by: 'name' });
    expect(fold([]).find('fresh.com', exchanges, catalog)).toBeUndefined();
  });

  it('is folded in steps of fifty hosts, so that others are answered in between', () => {
    const steps = (count: number) => {
      const folding = foldingInfra(
        Array.from({ length: count }, () => record()),
        catalog,
        () => undefined,
      );
      let yields = 0;
      while (!folding.next().done) yields++;
      return yields;
    };
    expect([0, 49, 50, 99, 100].map(steps)).toEqual([0, 0, 1, 1, 2]);
  });

  it('can be learned only of hosts that nobody knows, or knows as disposable', () => {
    expect(isLearnable('mx.box.net', catalog)).toBe(true);
    expect(isLearnable('mx.yopmail.com', catalog)).toBe(true);
    expect(isLearnable('mx1.riseup.net', catalog)).toBe(false);
    expect(isLearnable('route1.mx.cloudflare.net', catalog)).toBe(false);
  });
});
