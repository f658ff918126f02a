import { expect, test } from 'vitest';
import { MetricSums } from '../../src/http/metric-sums.ts';
import { createMetrics } from '../../src/http/metrics.ts';

/** A worker that has answered so many calls, has so many connections, and was held for so long. */
async function valuesOf(calls: number, connections: number, held: number) {
  const metrics = createMetrics();
  for (let i = 0; i < calls; i++) metrics.request('domain', 200, 0.0002);
  for (let i = 0; i < calls; i++) metrics.verdict('safe');
  metrics.gauge('connections', 'Open.', () => connections, 'sum');
  metrics.gauges('held', 'Held.', 'quantile', () => [['max', held]], 'max');
  return metrics.values();
}

const lineOf = (body: string, start: string) => {
  const lines = body.split('\n').filter(line => line.startsWith(start));
  return lines.length === 1 ? Number(lines[0]!.split(' ').at(-1)) : lines;
};

const CALLS = 'domain_risk_request_seconds_count{route="domain",status="200"}';
const SAFE = 'domain_risk_verdicts_total{reason="safe"}';

test('calls and connections of workers are added, of what all know the largest is shown, each metric once', async () => {
  const sums = new MetricSums();
  sums.told(0, await valuesOf(3, 10, 0.5));
  sums.told(1, await valuesOf(4, 20, 0.2));
  const { body, type } = await sums.text(MetricSums.ofProcess(await createMetrics().values()));
  expect(type).toMatch(/^text\/plain/);
  expect([lineOf(body, CALLS), lineOf(body, SAFE)]).toEqual([7, 7]);
  expect(lineOf(body, 'connections')).toBe(30);
  expect(lineOf(body, 'held{quantile="max"}')).toBe(0.5);
  const told = body.split('\n').filter(line => line.startsWith('# TYPE '));
  expect(new Set(told).size).toBe(told.length);
});

test('what the process tells of itself is not added up', async () => {
  const sums = new MetricSums();
  const values = await createMetrics().values();
  for (const worker of [0, 1, 2]) sums.told(worker, values);
  const { body } = await sums.text(MetricSums.ofProcess(values));
  for (const name of ['process_start_time_seconds', 'process_resident_memory_bytes', 'process_open_fds']) {
    const one = values.find(metric => metric.name === name)!.values[0]!.value;
    expect([name, lineOf(body, `${name} `)]).toEqual([name, one]);
  }
});

test('of workers that end together, and before they are added up, no counter falls', async () => {
  const sums = new MetricSums();
  for (const worker of [0, 1, 2]) sums.told(worker, await valuesOf(10 ** worker, 1, 0.1));
  const ending = [0, 1, 2].map(worker => sums.ended(worker));
  expect(lineOf((await sums.text([])).body, CALLS)).toBe(111);
  await Promise.all(ending);
  expect(lineOf((await sums.text([])).body, CALLS)).toBe(111);
  sums.told(1, await valuesOf(5, 1, 0.1));
  await sums.ended(1);
  expect(lineOf((await sums.text([])).body, CALLS)).toBe(116);
});

test('when a worker is replaced no counter falls, and its connections are gone', async () => {
  const sums = new MetricSums();
  sums.told(0, await valuesOf(3, 10, 0.5));
  sums.told(1, await valuesOf(4, 20, 0.2));
  await sums.ended(0);
  sums.told(0, await valuesOf(1, 1, 0.1));
  await sums.ended(0);
  const { body } = await sums.text([]);
  expect([lineOf(body, CALLS), lineOf(body, SAFE)]).toEqual([8, 8]);
  expect([lineOf(body, 'connections'), lineOf(body, 'held{quantile="max"}')]).toEqual([20, 0.2]);
});
