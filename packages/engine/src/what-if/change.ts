// What a what-if may change, and how a change is written. The forms are strict: a value that could be read
// in two ways is refused with an example of what is meant, because a typo would otherwise pass for
// "nothing would have changed". Changes are plain values, so that they can be posted to a worker.

import { err, ok, type Result } from '@bigfleet/base';
import { CapacityType, type CapacityTypeCode } from '../model/capacity-type.ts';

/** Machines by how they are paid for, or by their instance type. */
export type Subject =
  | { readonly capacityType: CapacityTypeCode }
  | { readonly instanceType: string };

/** Another value, or so many times the recorded one. */
export type Setting = { readonly value: number } | { readonly factor: number };

export type Change =
  /** Machines of a capacity type, fewer or more; `share` of those that the recording ever shows. */
  | {
      readonly kind: 'capacity';
      readonly capacityType: CapacityTypeCode;
      readonly by: { readonly count: number } | { readonly share: number };
    }
  | { readonly kind: 'price'; readonly of: Subject; readonly setting: Setting }
  | { readonly kind: 'interruption'; readonly of: Subject; readonly setting: Setting }
  | { readonly kind: 'lose_zone'; readonly zone: string; readonly afterMs: number }
  | { readonly kind: 'clusters'; readonly addedCount: number }
  /** Of one cluster, or of all when it is empty. */
  | { readonly kind: 'demand'; readonly cluster: string; readonly factor: number }
  | { readonly kind: 'hold'; readonly of: 'onDemand' | 'spot'; readonly ms: number };

const CAPACITY_WORDS: ReadonlyMap<string, CapacityTypeCode> = new Map([
  ['bare-metal', CapacityType.BareMetal],
  ['reserved', CapacityType.Reserved],
  ['on-demand', CapacityType.OnDemand],
  ['spot', CapacityType.Spot],
]);

const MAX_DOLLARS = 1_000_000;
const MAX_FACTOR = 1_000;
export const MAX_ADDED_MACHINES = 1_000_000;
const MAX_ADDED_CLUSTERS = 1_000;
const MAX_NAME_LENGTH = 253;
const MAX_DECIMALS = 9;
const MAX_DURATION_MS: number = 366 * 24 * 3_600_000;

/** What can be written, for refusals. */
const CHANGE_FORMS: readonly string[] = [
  'reserved=-20% (or bare-metal, on-demand, spot; a share or a number such as +40)',
  'price:<type or capacity type>=×1.4 (or dollars per hour: =0.12)',
  'interruption:<type or capacity type>=×2 (or a probability per hour: =0.05)',
  'lose-zone=<zone>[@6h]',
  'clusters=+8',
  'demand=×1.3 (or demand:<cluster>=×1.3)',
  'on-demand-hold=5m',
  'spot-hold=0',
];

const FACTOR_EXAMPLE = 'a factor such as ×1.4';

export function parseChange(text: string): Result<Change, string> {
  const [, name = '', of = '', value = ''] = /^([a-z-]+)(?::([^=\s]+))?=(\S+)$/.exec(text) ?? [];
  if (of.length > MAX_NAME_LENGTH || value.length > MAX_NAME_LENGTH) {
    return err(`a name has at most ${MAX_NAME_LENGTH} characters`);
  }
  const capacityType = CAPACITY_WORDS.get(name);
  if (capacityType !== undefined && of === '') return parseCapacity(capacityType, value);
  switch (name) {
    case 'price':
    case 'interruption':
      return of === '' ? unknown() : parseSetting(name, of, value);
    case 'demand':
      return parseDemand(of, value);
    case 'lose-zone':
      return of === '' ? parseZone(value) : unknown();
    case 'clusters':
      return of === '' ? parseClusters(value) : unknown();
    case 'on-demand-hold':
    case 'spot-hold':
      return of === '' ? parseHold(name, value) : unknown();
    default:
      return unknown();
  }
}

function unknown(): Result<never, string> {
  return err(`write one of: ${CHANGE_FORMS.join('; ')}`);
}

function parseCapacity(capacityType: CapacityTypeCode, text: string): Result<Change, string> {
  const [, sign, number, percent] = /^([+\-−])(\d{1,7}(?:\.\d{1,6})?)(%)?$/.exec(text) ?? [];
  const size = number === undefined ? Number.NaN : Number(number);
  const signed = sign === '+' ? size : -size;
  const isShare = percent !== undefined;
  const isRight = isShare
    ? signed >= -100 && signed <= 100 * MAX_FACTOR && size > 0
    : Number.isInteger(size) && size > 0 && size <= MAX_ADDED_MACHINES;
  if (!isRight) return err('write a share such as -20% or +50%, or a number such as -40 or +40');
  const by = isShare ? { share: signed / 100 } : { count: signed };
  return ok({ kind: 'capacity', capacityType, by });
}

function parseSetting(
  kind: 'price' | 'interruption',
  of: string,
  text: string,
): Result<Change, string> {
  const capacityType = CAPACITY_WORDS.get(of);
  const subject = capacityType === undefined ? { instanceType: of } : { capacityType };
  const factor = parseFactor(text);
  if (factor !== undefined) return ok({ kind, of: subject, setting: { factor } });
  const max = kind === 'price' ? MAX_DOLLARS : 1;
  const value = parseNumber(text, max);
  if (value !== undefined) return ok({ kind, of: subject, setting: { value } });
  const what = kind === 'price' ? 'dollars per hour such as 0.12' : 'a probability from 0 to 1';
  return err(`write ${what}, or ${FACTOR_EXAMPLE}`);
}

function parseDemand(cluster: string, text: string): Result<Change, string> {
  const factor = parseFactor(text);
  if (factor === undefined) return err(`write ${FACTOR_EXAMPLE}`);
  return ok({ kind: 'demand', cluster, factor });
}

function parseZone(text: string): Result<Change, string> {
  const [, zone = '', after] = /^([^@]+)(?:@(.+))?$/.exec(text) ?? [];
  const afterMs = after === undefined ? 0 : parseMs(after);
  if (zone === '' || afterMs === undefined) {
    return err('write a zone, and when it is lost: lose-zone=z1 or lose-zone=z1@6h');
  }
  return ok({ kind: 'lose_zone', zone, afterMs });
}

function parseClusters(text: string): Result<Change, string> {
  const [, digits] = /^\+(\d{1,4})$/.exec(text) ?? [];
  const addedCount = digits === undefined ? 0 : Number(digits);
  if (addedCount < 1 || addedCount > MAX_ADDED_CLUSTERS) {
    return err(`write how many clusters more, from +1 to +${MAX_ADDED_CLUSTERS}`);
  }
  return ok({ kind: 'clusters', addedCount });
}

function parseHold(name: 'on-demand-hold' | 'spot-hold', text: string): Result<Change, string> {
  const ms = parseMs(text);
  if (ms === undefined) return err('write a duration such as 5m, 90s or 1h30m; 0 holds for ever');
  return ok({ kind: 'hold', of: name === 'spot-hold' ? 'spot' : 'onDemand', ms });
}

function parseFactor(text: string): number | undefined {
  return /^[×x*]/.test(text) ? parseNumber(text.slice(1), MAX_FACTOR) : undefined;
}

function parseNumber(text: string, max: number): number | undefined {
  const value = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  return value <= max ? value : undefined;
}

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
];
const UNIT_MS: ReadonlyMap<string, number> = new Map(UNITS);

/** A bare number is refused: nobody can tell whether 30 means seconds or minutes. */
function parseMs(text: string): number | undefined {
  if (text === '0') return 0;
  const parts = [...text.matchAll(/(\d{1,9})(ms|s|m|h|d)/g)];
  const isWhole = parts.length > 0 && parts.map(([part]) => part).join('') === text;
  const ms = parts.reduce(
    (sum, [, count, unit]) => sum + Number(count) * (UNIT_MS.get(unit ?? '') ?? Number.NaN),
    0,
  );
  return isWhole && ms <= MAX_DURATION_MS ? ms : undefined;
}

/** The shortest spelling of whole milliseconds: `6h`, `1h30m`, `0`. */
export function formatMs(ms: number): string {
  let restMs = Math.round(ms);
  let text = '';
  for (const [unit, unitMs] of UNITS) {
    const count = Math.floor(restMs / unitMs);
    if (count > 0) text += `${count}${unit}`;
    restMs -= count * unitMs;
  }
  return text === '' ? '0' : text;
}

/** As it is written: what `parseChange` reads as the same change. */
export function describeChange(change: Change): string {
  switch (change.kind) {
    case 'capacity':
      return `${capacityWord(change.capacityType)}=${describeAmount(change.by)}`;
    case 'price':
    case 'interruption':
      return `${change.kind}:${describeSubject(change.of)}=${describeSetting(change.setting)}`;
    case 'lose_zone':
      return `lose-zone=${change.zone}${change.afterMs === 0 ? '' : `@${formatMs(change.afterMs)}`}`;
    case 'clusters':
      return `clusters=+${change.addedCount}`;
    case 'demand':
      return `demand${change.cluster === '' ? '' : `:${change.cluster}`}=×${plain(change.factor)}`;
    case 'hold':
      return `${change.of === 'spot' ? 'spot' : 'on-demand'}-hold=${formatMs(change.ms)}`;
  }
}

function describeSubject(of: Subject): string {
  return 'instanceType' in of ? of.instanceType : capacityWord(of.capacityType);
}

export function capacityWord(capacityType: CapacityTypeCode): string {
  for (const [word, code] of CAPACITY_WORDS) if (code === capacityType) return word;
  return '';
}

function describeSetting(setting: Setting): string {
  return 'factor' in setting ? `×${plain(setting.factor)}` : plain(setting.value);
}

function describeAmount(by: { readonly count: number } | { readonly share: number }): string {
  const isShare = 'share' in by;
  const size = isShare ? Number((by.share * 100).toPrecision(12)) : by.count;
  return `${size < 0 ? '-' : '+'}${plain(Math.abs(size))}${isShare ? '%' : ''}`;
}

/** Without an exponent, which no form allows. */
function plain(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(MAX_DECIMALS).replace(/0+$/, '') : text;
}
