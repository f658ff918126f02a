import { beforeAll, describe, expect, it } from 'vitest';
import type { Catalog } from '../../src/core/catalog.ts';
import type { Domain } from '../../src/core/domain.ts';
import { GuestBook, type Visitor } from '../../src/core/guest-book.ts';
import { catalogOf } from '../support/catalog.ts';
import { guestOf } from '../support/guests.ts';

const DAY = '2026-11-15';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await catalogOf(['burner.com'], { popular: ['popular.com', 'popular.gr.com'] });
});

/** A book beside addresses that a test knows, and who was made to wait in whose row; `later` answers what is left open. */
function opened(addresses: Readonly<Record<string, readonly string[]>> = {}, age = 0) {
  const wanted: [host: string, by: string][] = [];
  const open: { host: string; take: (addresses: readonly string[]) => void }[] = [];
  const silent = new Set<string>();
  const known = (host: string) => addresses[host];
  const want = (host: string, by: string, take: (addresses: readonly string[]) => void) => {
    wanted.push([host, by]);
    const found = known(host);
    if (found) take(found);
    else open.push({ host, take });
  };
  const book = new GuestBook(
    { fresh: known, want, age: () => age, isSilent: host => silent.has(host) },
    new Map(),
  );
  const later = (found: Readonly<Record<string, readonly string[]>>) => {
    for (const { host, take } of open.splice(0)) take(found[host] ?? []);
  };
  return { book, wanted, later, silent };
}

function visitor(domain: string, facts: Partial<Visitor> = {}, day = DAY): Visitor {
  const { host: _, ...guest } = guestOf({ host: '', domain, entry: domain, day });
  return { domain: domain as Domain, zone: domain, by: 'key_1', guest, ...facts };
}

function unlisted(domain: string, day = DAY): Visitor {
  const { host: _, ...guest } = guestOf({ host: '', domain, entry: null, day });
  return visitor(domain, { guest });
}

const exchanges = (...hosts: string[]) => hosts.map((host, preference) => ({ host, preference }));
const hostsIn = (book: GuestBook) => book.turn()?.guests.map(({ host }) => host);
const seenAt = (...at: string[]) => [{ domain: 'burner.com', registered: null, day: DAY, at }];
const NAMES = ['mx.box.net', '*.box.net', '5.61.1.1', 'own@5.61.1.1'];

describe('a guest', () => {
  it('is written under its host, the domain of hosts and the addresses, and once', () => {
    const { book } = opened({ 'mx1.box.net': ['5.61.1.1', '2a01::1'] });
    for (let times = 0; times < 2; times++)
      book.enter(visitor('burner.com'), exchanges('mx1.box.net'), catalog);
    expect(hostsIn(book)).toEqual(['mx1.box.net', '*.box.net', '5.61.1.1']);
    expect(book.turn()).toBeUndefined();
  });

  it('on hosts of its own is written under the address, and as such', () => {
    const { book } = opened({ 'mx.burner.com': ['5.61.1.1'] });
    book.enter(visitor('burner.com'), exchanges('mx.burner.com'), catalog);
    expect(hostsIn(book)).toEqual(['5.61.1.1', 'own@5.61.1.1']);
  });

  it('is written under four addresses of a host at most', () => {
    const { book } = opened({ 'mx.firm.com': ['1', '2', '3', '4', '5'] });
    book.enter(unlisted('firm.com'), exchanges('mx.firm.com'), catalog);
    expect(hostsIn(book)).toHaveLength(2 * 4);
  });

  it.each<[string, string[], string[]]>([
    ['the only one', ['5.61.1.1'], ['5.61.1.1']],
    ['the only one of IPv4', ['5.61.1.1', '2a01::1', '2a01::2'], ['5.61.1.1']],
    ['the only one of IPv6, where it has no other', ['2a01::1'], ['2a01::1']],
    ['none of two', ['5.61.1.1', '5.99.0.1'], []],
    ['none of four', ['5.61.1.1', '5.61.1.2', '5.61.1.3', '5.99.0.1'], []],
    ['none of two of IPv6', ['2a01::1', '2a99::1'], []],
  ])('that is listed speaks against an address of its host where that is %s', (_, found, blamed) => {
    const { book } = opened({ 'mx.box.net': found, 'mx.burner.com': found });
    book.enter(visitor('burner.com'), exchanges('mx.box.net'), catalog);
    expect(hostsIn(book)).toEqual(['mx.box.net', '*.box.net', ...blamed]);
    book.enter(visitor('burner.com'), exchanges('mx.burner.com'), catalog);
    expect(hostsIn(book) ?? []).toEqual(blamed.flatMap(address => [address, `own@${address}`]));
    // Who is unlisted speaks for all of them.
    book.enter(unlisted('firm.com'), exchanges('mx.box.net'), catalog);
    expect(hostsIn(book)).toEqual(['mx.box.net', '*.box.net', ...found]);
  });

  it('is written at an address with whose host brought it there', () => {
    const { book } = opened({ 'mx1.box.net': ['5.61.1.1'], 'mx.burner.com': ['5.61.1.1'] });
    const brought = (host: string) => {
      book.enter(visitor('burner.com'), exchanges(host), catalog);
      return book.turn()!.guests.map(({ host: at, via }) => `${at} ${via}`);
    };
    expect(brought('mx1.box.net')).toEqual(['mx1.box.net null', '*.box.net null', '5.61.1.1 box.net']);
    expect(brought('mx.burner.com')).toEqual(['5.61.1.1 ', 'own@5.61.1.1 null']);
  });

  it.each<[string, [host: string, preference: number][], string[] | undefined]>([
    ['at its host', [['mx.box.net', 10]], NAMES],
    ['at an address of its own', [['mx.burner.com', 10]], ['5.61.1.1', 'own@5.61.1.1']],
    ['at an address without exchanges', [], []],
    ['parked', [['mx.sedoparking.com', 10]], ['mx.sedoparking.com', '*.sedoparking.com']],
    [
      'at a provider',
      [['aspmx.l.google.com', 10]],
      ['aspmx.l.google.com', '*.google.com', '142.250.1.26', 'own@142.250.1.26'],
    ],
    [
      'not at what it names behind that',
      [
        ['mx.box.net', 10],
        ['mx.two.net', 20],
      ],
      NAMES,
    ],
    [
      'behind a host that is nowhere, of which it is not',
      [
        ['no.two.net', 5],
        ['mx.box.net', 10],
      ],
      NAMES,
    ],
    [
      'behind a host of which nobody knows, or there',
      [
        ['mx.silent.net', 5],
        ['mx.box.net', 10],
      ],
      ['mx.silent.net', '*.silent.net', ...NAMES],
    ],
    [
      'at a host of which nobody knows, and not behind it',
      [
        ['mx.silent.net', 5],
        ['mx.quiet.net', 10],
      ],
      ['mx.silent.net', '*.silent.net'],
    ],
    ['at hosts that are nowhere', [['no.two.net', 10]], ['no.two.net', '*.two.net']],
  ])('that is listed is told where it was seen, so that it is no longer elsewhere: %s', (_, hosts, at) => {
    const { book } = opened({
      ...{
        'mx.box.net': ['5.61.1.1'],
        'mx.burner.com': ['5.61.1.1'],
        'mx.two.net': ['5.61.1.2'],
        'no.two.net': [],
      },
      'aspmx.l.google.com': ['142.250.1.26'],
    });
    book.enter(
      visitor('burner.com'),
      hosts.map(([host, preference]) => ({ host, preference })),
      catalog,
    );
    // As long as somebody may still answer it is kept.
    const pages = Array.from({ length: 9 }, () => book.turn());
    expect(pages.flatMap(page => page?.listed ?? [])).toEqual(at ? seenAt(...at) : []);
  });

  it('that is listed is told by its own name, and speaks against a host by that, not by one below it, which may be anywhere', () => {
    const { book } = opened({ 'mx.two.net': ['5.61.1.2'] });
    book.enter(
      visitor('burner.com', { domain: 'www.burner.com' as Domain }),
      exchanges('mx.two.net'),
      catalog,
    );
    expect(book.turn()).toBeUndefined();
  });

  it('that is listed does not speak against who stands behind a host that does not answer', () => {
    const { book, silent, later } = opened({ 'mx.box.net': ['5.61.1.1'] });
    silent.add('mx.silent.net');
    book.enter(visitor('burner.com'), exchanges('mx.silent.net', 'mx.box.net'), catalog);
    later({});
    expect(hostsIn(book) ?? []).toEqual([]);
  });

  it('that is listed is told as soon as somebody knows where it was, also where nobody gets half of its mail', () => {
    const known: Record<string, string[]> = {};
    const { book, later } = opened(known);
    const alike = ['mx.box.net', 'mx.two.net', 'mx.three.net'].map(host => ({ host, preference: 10 }));
    book.enter(visitor('burner.com'), alike, catalog);
    expect(book.turn()).toBeUndefined();
    for (const [at, { host }] of alike.entries()) known[host] = [`5.61.1.${at}`];
    later(known);
    expect(book.turn()?.listed[0]?.at).toContain('5.61.1.2');
  });

  it('that is listed is where it was at every look of a day, also where some could not be written at first', () => {
    const { book } = opened({ 'mx.box.net': ['5.61.1.1'], 'mx.home.net': ['5.61.1.1'] });
    const look = (host: string, day = DAY) =>
      book.enter(visitor('burner.com', {}, day), exchanges(host), catalog);
    for (const host of ['mx.box.net', 'mx.home.net', 'mx.box.net']) look(host);
    const page = book.turn()!;
    expect(page.listed).toEqual(seenAt('5.61.1.1', 'own@5.61.1.1'));
    // Also where it had no exchanges at one of them.
    book.enter(visitor('burner.com'), [], catalog);
    book.putBack({ ...page, guests: [] });
    expect(book.turn()!.listed).toEqual(seenAt());
    book.putBack({ ...page, guests: [] });
    look('mx.box.net');
    look('mx.box.net', '2026-11-16');
    expect(book.turn()!.listed.map(({ day, at }) => `${day} ${at.join(' ')}`)).toEqual([
      `${DAY} 5.61.1.1 own@5.61.1.1`,
      `2026-11-16 ${NAMES.join(' ')}`,
    ]);
  });

  it('that is listed is not where its host was days ago', () => {
    const { book } = opened({ 'mx.box.net': ['5.61.1.1'] }, 86_400_001);
    book.enter(visitor('burner.com'), exchanges('mx.box.net'), catalog);
    expect(book.turn()).toBeUndefined();
  });

  it('is looked for at a fifth host only where one before it has no address', () => {
    const { book, wanted, later } = opened();
    const all = ['a.net', 'b.net', 'c.net', 'd.net', 'e.net', 'f.net'];
    const { host: _, ...guest } = guestOf({ host: '', domain: 'innocent.com', entry: null, day: DAY });
    book.enter(visitor('innocent.com', { guest }), exchanges(...all), catalog);
    expect(wanted.map(([host]) => host)).toEqual(all.slice(0, 4));
    later({ 'a.net': ['5.61.1.1'], 'c.net': ['5.61.1.3'], 'd.net': ['5.61.1.4'] });
    expect(wanted.map(([host]) => host)).toEqual(all.slice(0, 5));
  });

  it('that is listed speaks against those who get its mail only, not against whomever it names behind them', () => {
    const { book, wanted, later } = opened();
    const [first, same, victim] = ['mx1.box.net', 'mx2.box.net', 'mx.victim.net'];
    const all = [
      { host: first, preference: 10 },
      { host: same, preference: 10 },
      { host: victim, preference: 20 },
    ];
    book.enter(visitor('burner.com'), all, catalog);
    later({ [same]: ['5.61.1.1'] });
    expect(wanted.map(([host]) => host)).toEqual([first, same]);
    // Nor against others below the same domain: that the mail goes there, and not to the next, nobody finds out.
    expect(hostsIn(book)).toEqual([same, '5.61.1.1']);
    book.enter(visitor('burner.com'), all.slice(0, 2), catalog);
    later({ [same]: ['5.61.1.1'] });
    expect(hostsIn(book)).toEqual([same, '*.box.net', '5.61.1.1']);
    // Where none of them is anywhere, the next ones do.
    const at = { [first]: ['5.61.1.1'], [same]: ['5.61.1.1'], [victim]: ['5.61.2.2'] };
    book.enter(visitor('burner.com'), all, catalog);
    later({});
    later(at);
    expect(hostsIn(book)).toContain(victim);
    // Nor where it is one of many that are tried alike: that costs a small part of the mail.
    const alike = [first, same, victim].map(host => ({ host, preference: 10 }));
    book.enter(visitor('burner.com'), alike, catalog);
    later(at);
    expect(hostsIn(book)).not.toContain(victim);
    book.enter(visitor('burner.com'), alike.slice(1), catalog);
    later(at);
    expect(hostsIn(book)).toContain(victim);
    // A provider that is there gets the mail, though nothing is learned of it.
    const { book: other } = opened({ 'aspmx.l.google.com': ['142.250.1.26'] });
    other.enter(visitor('burner.com'), exchanges('aspmx.l.google.com', victim), catalog);
    expect(hostsIn(other)).toEqual([]);
  });

  it('that is listed speaks against its host also where it names others beside or before it that do not exist', () => {
    const [own, ...dead] = ['mx.box.net', 'mx.gone1.net', 'mx.gone2.net', 'mx.gone3.net'];
    const before = dead.map(host => ({ host, preference: 10 }));
    const { book, later } = opened();
    book.enter(visitor('burner.com'), [...before, { host: own!, preference: 20 }], catalog);
    later({});
    expect(hostsIn(book)).toBeUndefined();
    later({ [own!]: ['5.61.1.1'] });
    expect(hostsIn(book)).toEqual([own, '5.61.1.1']);
    // Beside it, as soon as it is known that they are nowhere.
    const { book: other, wanted, later: learnedLater } = opened();
    const beside = [own!, ...dead].map(host => ({ host, preference: 10 }));
    other.enter(visitor('burner.com'), beside, catalog);
    expect(hostsIn(other)).toBeUndefined();
    expect(wanted.map(([host]) => host)).toEqual([own, ...dead]);
    learnedLater({ [own!]: ['5.61.1.1'] });
    expect(hostsIn(other)?.sort()).toEqual(['5.61.1.1', own]);
  });

  it.each([
    ['beside', 20],
    ['before', 10],
  ])(
    'that is listed speaks against its host also %s names below a hosting company that do not exist',
    (_, preference) => {
      const dead = ['m1.ionos.com', 'm2.ionos.com', 'm3.ionos.com'].map(host => ({ host, preference }));
      const { book, later } = opened();
      book.enter(visitor('burner.com'), [...dead, { host: 'mx.box.net', preference: 20 }], catalog);
      later({ 'mx.box.net': ['5.61.1.1'] });
      later({ 'mx.box.net': ['5.61.1.1'] });
      expect(hostsIn(book)).toEqual(['mx.box.net', '5.61.1.1']);
    },
  );

  it("that is listed speaks against its host also behind a provider's web site, which takes no mail", () => {
    const { book, wanted } = opened({ 'www.zoho.com': ['23.1.1.1'], 'mx.box.net': ['5.61.1.1'] });
    book.enter(visitor('burner.com'), exchanges('www.zoho.com', 'mx.box.net'), catalog);
    expect(hostsIn(book)).toEqual(['mx.box.net', '5.61.1.1']);
    expect(wanted).toContainEqual(['mx.box.net', 'key_1']);
  });

  it('that is listed speaks against one machine by whatever names, and not against who is lent a small part of its mail', () => {
    const machine = ['mx.one.net', 'mx.two.net', 'mx.three.net'];
    const victim = 'mx.victim.net';
    const alike = [...machine, victim].map(host => ({ host, preference: 10 }));
    const blamed = (...at: string[]) => {
      const { book } = opened({
        ...Object.fromEntries(machine.map(host => [host, at])),
        [victim]: ['5.61.2.2'],
      });
      book.enter(visitor('burner.com'), alike, catalog);
      return new Set(hostsIn(book));
    };
    expect(blamed('5.61.1.1')).toEqual(new Set([...machine, '5.61.1.1']));
    // Nor is it theirs because they name its address beside their own.
    expect(blamed('5.61.1.1', '5.61.2.2')).not.toContain(victim);
  });

  it.each<[string, string[][], boolean]>([
    [
      'an address of IPv6 each',
      [
        ['5.61.1.1', '2a01::1'],
        ['5.61.1.1', '2a01::2'],
        ['5.61.1.1', '2a01::3'],
      ],
      true,
    ],
    [
      'a decoy each',
      [
        ['5.61.1.1', '5.61.3.1'],
        ['5.61.1.1', '5.61.3.2'],
        ['5.61.1.1', '5.61.3.3'],
      ],
      true,
    ],
    ['decoys at some', [['5.61.1.1'], ['5.61.1.1', '5.61.3.2'], ['5.61.1.1', '5.61.3.3']], true],
    ['no address of IPv4', [['2a01::1'], ['2a01::1'], ['2a01::1']], true],
    ['no address of IPv4 and one each', [['2a01::1'], ['2a01::2'], ['2a01::3']], false],
    ['an address each', [['5.61.1.1'], ['5.61.1.2'], ['5.61.1.3']], false],
    [
      'one address of IPv6 and one of IPv4 each',
      [
        ['5.61.1.1', '2a01::1'],
        ['5.61.1.2', '2a01::1'],
        ['5.61.1.3', '2a01::1'],
      ],
      false,
    ],
  ])('that is listed speaks against three names that are tried alike, with %s', (_, at, isBlamed) => {
    const machine = ['mx.one.net', 'mx.two.net', 'mx.three.net'];
    const found = Object.fromEntries(machine.map((host, one) => [host, at[one]!]));
    const alike = machine.map(host => ({ host, preference: 10 }));
    const { book } = opened(found);
    book.enter(visitor('burner.com'), alike, catalog);
    expect((hostsIn(book) ?? []).includes('mx.two.net')).toBe(isBlamed);
    // Also where each answer has other names, so that nobody knows beforehand where they are.
    const { book: fresh, later } = opened();
    fresh.enter(visitor('burner.com'), alike, catalog);
    expect(hostsIn(fresh)).toBeUndefined();
    later(found);
    expect((hostsIn(fresh) ?? []).includes('mx.two.net')).toBe(isBlamed);
  });

  it.each([
    ['listed', 'burner.com'],
    ['unlisted', null],
  ])('that is %s is written under no host of which nobody knows yet that it is there', (_, entry) => {
    const { book, later } = opened();
    const { host: _host, ...guest } = guestOf({ host: '', domain: 'burner.com', entry, day: DAY });
    const enter = () => book.enter(visitor('burner.com', { guest }), exchanges('mx.nobody.net'), catalog);
    enter();
    expect(book.turn()).toBeUndefined();
    later({});
    expect(book.turn()).toBeUndefined();
    enter();
    later({ 'mx.nobody.net': ['5.61.1.1'] });
    expect(hostsIn(book)).toEqual(['mx.nobody.net', '*.nobody.net', '5.61.1.1']);
  });

  it('comes back where the store could not write it, and is one with who came meanwhile', () => {
    const { book } = opened({ 'mx.box.net': ['5.61.1.1'] });
    const enter = (domain: string, keys: number) => {
      const who = visitor(domain);
      book.enter({ ...who, guest: { ...who.guest, keys } }, exchanges('mx.box.net'), catalog);
    };
    enter('burner.com', 0b01);
    enter('gone.com', 0b01);
    book.enter(visitor('popular.com'), exchanges('mx.shared.net'), catalog);
    const page = book.turn()!;
    expect(book.turn()).toBeUndefined();
    enter('burner.com', 0b10);
    book.putBack(page);
    const { guests, shared } = book.turn()!;
    const atHost = guests.filter(({ host }) => host === 'mx.box.net');
    expect(atHost.map(({ domain, keys }) => [domain, keys])).toEqual([
      ['burner.com', 0b11],
      ['gone.com', 0b01],
    ]);
    expect(shared).toEqual(page.shared);
    expect(shared).not.toEqual([]);
  });

  it('is dropped where 20,000 wait already: it is seen again', () => {
    const { book } = opened({ 'mx.box.net': ['5.61.1.1'] });
    for (let at = 0; at < 6_667; at++)
      book.enter(visitor(`burner${at}.com`), exchanges('mx.box.net'), catalog);
    const { guests } = book.turn()!;
    expect(guests).toHaveLength(20_000);
    book.enter(visitor('burner.com'), exchanges('mx.box.net'), catalog);
    expect(hostsIn(book)).toHaveLength(3);
  });
});

describe('what must not be learned', () => {
  it.each([
    ['a popular name', visitor('popular.com'), true],
    ['one below a suffix', visitor('popular.gr.com', { zone: 'gr.com' }), true],
    ['another below that', visitor('other.gr.com', { zone: 'gr.com' }), false],
    ['a name below it, which may be anybody', visitor('x.popular.com', { zone: 'popular.com' }), false],
  ])('is what %s shares: host, domain of hosts and address', (_, who, isShared) => {
    const { book } = opened({ 'mx.box.net': ['5.61.1.1'] });
    book.enter(who, exchanges('mx.box.net'), catalog);
    const { guests, shared } = book.turn()!;
    expect(shared).toEqual(isShared ? ['mx.box.net', '*.box.net', '5.61.1.1', 'own@5.61.1.1'] : []);
    expect(guests).toHaveLength(isShared ? 0 : 3);
  });

  it('is by what stands behind its first hosts only their names: whoever has a domain that lapsed puts it anywhere', () => {
    const { book } = opened({
      'mx.box.net': ['5.61.1.1'],
      'backup.gone.net': ['5.61.2.2'],
      'x.sdf.org': ['5.61.3.3'],
    });
    const all = [...exchanges('mx.box.net', 'backup.gone.net', 'x.sdf.org')];
    book.enter(unlisted('popular.com'), all, catalog);
    expect(book.turn()!.shared.toSorted()).toEqual(
      ['mx.box.net', '*.box.net', '5.61.1.1', 'own@5.61.1.1', 'backup.gone.net', '*.gone.net'].toSorted(),
    );
    // Tried alike they are.
    book.enter(
      unlisted('popular.com', '2026-11-16'),
      all.map(({ host }) => ({ host, preference: 10 })),
      catalog,
    );
    expect(book.turn()!.shared).toEqual(expect.arrayContaining(['5.61.1.1', '5.61.2.2', '5.61.3.3']));
  });

  it('is asked for in a row of its own, and once a day as soon as its addresses came', () => {
    const { book, wanted, later } = opened();
    const enter = (day?: string) =>
      book.enter(visitor('popular.com', {}, day), exchanges('mx.box.net'), catalog);
    enter();
    later({});
    enter();
    later({ 'mx.box.net': ['5.61.1.1'] });
    enter();
    expect(wanted).toEqual(Array(2).fill(['mx.box.net', 'providers key_1']));
    enter('2026-11-16');
    expect(wanted).toHaveLength(3);
  });

  it('is where the first four hosts of a provider are, whoever has his mail there', () => {
    const hosts = [1, 2, 3, 4, 5].map(at => `alt${at}.aspmx.l.google.com`);
    const { book } = opened(Object.fromEntries(hosts.map((host, at) => [host, [`5.61.1.${at}`]])));
    book.enter(visitor('burner.com'), exchanges(...hosts), catalog);
    const { guests, shared } = book.turn()!;
    expect(guests).toEqual([]);
    expect(shared).toEqual([0, 1, 2, 3].flatMap(at => [`5.61.1.${at}`, `own@5.61.1.${at}`]));
  });

  it('is not told by a host that somebody has below a popular name', () => {
    const { book, wanted } = opened({ 'x.popular.com': ['5.61.1.1'] });
    book.enter(visitor('burner.com'), exchanges('x.popular.com'), catalog);
    // Nor with another one behind it.
    book.enter(visitor('burner.com'), exchanges('x.popular.com', 'y.popular.com'), catalog);
    expect(wanted).toEqual([]);
    expect(book.turn()).toEqual({
      guests: [],
      shared: [],
      listed: [expect.objectContaining({ domain: 'burner.com' })],
    });
  });

  it.each(['project.rediris.es', 'home.comcast.net', 'vps.your-server.de', 'home.sdf.org', 'x.popular.com'])(
    'is not told by one look at %s, which may be anybody: who is unlisted there counts at the address',
    host => {
      const { book, wanted } = opened({ [host]: ['5.61.1.1'] });
      const { host: _, ...guest } = guestOf({ host: '', domain: 'firm.com', entry: null, day: DAY });
      book.enter(visitor('firm.com', { guest }), exchanges(host), catalog);
      expect(wanted).toEqual([[host, 'providers key_1']]);
      expect(book.turn()).toMatchObject({ guests: [{ host: '5.61.1.1', domain: 'firm.com' }], shared: [] });
      // Nor does a listed one speak against whoever else is there.
      book.enter(visitor('burner.com'), exchanges(host), catalog);
      expect(book.turn()).toEqual({
        guests: [],
        shared: [],
        listed: [expect.objectContaining({ domain: 'burner.com' })],
      });
    },
  );

  it.each(['mx1.rediris.es', 'mx1.comcast.net', 'mx.sdf.org'])('is told by %s, which is theirs', host => {
    const { book } = opened({ [host]: ['5.61.1.1'] });
    book.enter(visitor('burner.com'), exchanges(host), catalog);
    expect(book.turn()).toEqual({
      guests: [],
      shared: ['5.61.1.1', 'own@5.61.1.1'],
      listed: [expect.objectContaining({ domain: 'burner.com' })],
    });
  });
});
