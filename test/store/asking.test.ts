import { expect, test, vi } from 'vitest';
import { StoreUnavailable } from '../../src/core/ports.ts';
import { Asking } from '../../src/store/sqlite/asking.ts';

interface Ops {
  work(what: unknown): string;
}

test('whoever asks what cannot be sent to the thread is told, and nobody else is later', async () => {
  const { port1, port2 } = new MessageChannel();
  const asking = new Asking<Ops>(port1, 1_000);
  await expect(asking.ask('work', [() => {}])).rejects.toThrow(/could not be cloned/);
  // A second rejection would be nobody's, and end the program.
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  asking.end('the store is closed');
  await new Promise(setImmediate);
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
  await expect(asking.ask('work', ['late'])).rejects.toThrow(StoreUnavailable);
  port2.close();
});
