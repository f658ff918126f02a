/** Public suffixes that no feed can name: private ones that sell names as a registry does, or that are a public body's. */

import { isGivenAway, registrableDomain } from './domain.ts';
import { A_REGISTRY } from './zone.ts';

/**
 * Beside those of two letters: their like below other top-level domains (co.place, ltd.ua), registries that are named
 * after a country (gr.com, us.org, za.bz; js.org and ts.net give names away), what eu.org has for countries (fr.eu.org),
 * and schools and authorities (gov.scot, service.gov.uk). Of the 3,473 private suffixes of November 2026 these are 165;
 * the bundled disposable lists name two of them, eu.org and za.com, which are protected as well.
 */
const NO_FEEDS: readonly RegExp[] = [
  A_REGISTRY,
  /^(?:co|firm|inc|ltd|ngo|org|plc)\.[a-z]+$/,
  /^(?:(?!js|ts)[a-z]{2}|africa|jpn|mex)\.(?:com|net|org|bz)$/,
  /\.eu\.org$/,
  /(?:^|\.)(?:ac|edu|gob|gouv|gov|govt|mil|sch)\.[a-z]+$/,
  /\.(?:edu|gov|mil|leg\.[a-z]{2})$/,
];

/** Most names need no pattern: whatever these match has a last but one label of at most so many letters ("africa"), */
const LONGEST_BEFORE_LAST = 6;
/** or one of these as its last. */
const PUBLIC_BODIES: readonly string[] = ['.edu', '.gov', '.mil'];

/** One line that names it would cover everybody who has registered there. */
export function isRegistry(name: string): boolean {
  const dot = name.lastIndexOf('.');
  const isLong = dot - name.lastIndexOf('.', dot - 1) - 1 > LONGEST_BEFORE_LAST;
  if (isLong && !PUBLIC_BODIES.some(body => name.endsWith(body))) return false;
  return (
    NO_FEEDS.some(pattern => pattern.test(name)) &&
    registrableDomain(name) === undefined &&
    !isGivenAway(name)
  );
}
