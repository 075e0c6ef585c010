// What a trial may be told, from flags or from variables of make: strictly, with the bounds on error.

import { parseDuration, readArguments, refusalText, text } from '@bigfleet/process/flags';
import { DISTURBANCE_LIMITS, ZONES } from '../places.ts';
import type { Trial } from '../view/try.ts';

export interface TrialOptions {
  /** The directory of the demo that is meant, where several run. */
  readonly demo: string | undefined;
  /** Pods. */
  readonly count: number | undefined;
  readonly zone: string | undefined;
  readonly shard: string | undefined;
  readonly factor: number | undefined;
  readonly forMs: number | undefined;
}

export type ParsedTrialOptions =
  | { readonly ok: true; readonly value: TrialOptions }
  | { readonly ok: false; readonly problem: string };

type Name = 'n' | 'zone' | 'shard' | 'factor' | 'for' | 'demo';

const namesOf: Readonly<Record<Trial, readonly Name[]>> = {
  scale: ['n', 'demo'],
  zone: ['zone', 'for', 'demo'],
  spot: ['factor', 'for', 'demo'],
  shard: ['shard', 'demo'],
  gang: ['n', 'demo'],
};

const forms: Readonly<Record<Name, string>> = {
  n: '20',
  zone: ZONES.join('|'),
  shard: 'shard-0|shard-1',
  factor: '5',
  for: '30s',
  demo: 'dir',
};

/** Pods of one trial: more would need more machines of one type than a zone has. */
const MAX_PODS = 40;

export function trialUsage(trial: Trial): string {
  // As many as its file asks for, and a rack has.
  const formOf = (name: Name): string => (trial === 'gang' && name === 'n' ? '4' : forms[name]);
  const options = namesOf[trial].map((name) => `[${name.toUpperCase()}=${formOf(name)}]`);
  return `usage: make try-${trial} ${options.join(' ')}`;
}

export function parseTrialOptions(
  trial: Trial,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ParsedTrialOptions {
  const names = namesOf[trial];
  const flags = Object.fromEntries(names.map((name) => [name, text('', '')]));
  const read = readArguments(flags, args, { isLastCounted: true });
  if (!read.ok) return { ok: false, problem: refusalText(read.error) };
  const valueOf = (name: Name): string | undefined => {
    if (!names.includes(name)) return undefined;
    const given = read.value.texts.get(name)?.at(-1) ?? env[name.toUpperCase()];
    return given === '' ? undefined : given;
  };
  const problems: string[] = [];
  const number = (name: Name, isValid: (value: number) => boolean, rule: string) => {
    const given = valueOf(name);
    if (given === undefined) return undefined;
    const value = Number(given);
    if (!isValid(value)) problems.push(`${name.toUpperCase()}=${given}: ${rule}`);
    return value;
  };
  const { spotFactor, forMs } = DISTURBANCE_LIMITS;
  const zone = valueOf('zone');
  if (zone !== undefined && !ZONES.includes(zone)) {
    problems.push(`ZONE=${zone}: one of ${ZONES.join(', ')}`);
  }
  const duration = valueOf('for');
  const parsed = duration === undefined ? undefined : parseDuration(duration);
  const durationMs = parsed?.ok === true ? parsed.value : undefined;
  const isDuration = durationMs !== undefined && durationMs >= forMs.min && durationMs <= forMs.max;
  if (duration !== undefined && !isDuration) {
    problems.push(`FOR=${duration}: say 30s or 2m, from 1s to 60m`);
  }
  const value: TrialOptions = {
    demo: valueOf('demo'),
    count: number(
      'n',
      (count) => Number.isInteger(count) && count >= 0 && count <= MAX_PODS,
      `Pods, from 0 to ${MAX_PODS}`,
    ),
    zone,
    shard: valueOf('shard'),
    factor: number(
      'factor',
      (factor) => factor >= spotFactor.min && factor <= spotFactor.max,
      `from ${spotFactor.min} to ${spotFactor.max}`,
    ),
    forMs: durationMs,
  };
  const [problem] = problems;
  return problem === undefined ? { ok: true, value } : { ok: false, problem };
}
