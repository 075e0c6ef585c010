// The content of rails.json. Read strictly: a file that we do not fully understand may hold a pause
// that we would drop, so anything unexpected is corruption and the shard refuses to start.

import { err, ok, type Result } from '@bigfleet/base';
import { type RailChange, type RailOverrides, settingsProblem } from './settings.ts';

export interface StoredRails {
  readonly overrides: RailOverrides;
  /** Absent in a file that was never changed. */
  readonly change: RailChange | undefined;
}

const VERSION = 1;
const KEYS: ReadonlySet<string> = new Set(['version', 'settings', 'change']);
const CHANGE_KEYS: ReadonlySet<string> = new Set(['by', 'unixNanos', 'reason']);

type SettingType = 'boolean' | 'number';
const SETTINGS: ReadonlyMap<string, SettingType> = new Map([
  ['paused', 'boolean'],
  ['dryRun', 'boolean'],
  ['reclaimCapFraction', 'number'],
  ['emptyRollupGuard', 'boolean'],
  ['maxActionsPerCycle', 'number'],
]);

export function formatRails({ overrides, change }: StoredRails): string {
  const stored =
    change === undefined ? {} : { change: { ...change, unixNanos: `${change.unixNanos}` } };
  return `${JSON.stringify({ version: VERSION, settings: overrides, ...stored }, undefined, 2)}\n`;
}

/** The error says what is wrong with the file. */
export function parseRails(text: string): Result<StoredRails, string> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return err('it is not JSON');
  }
  if (!isRecord(parsed) || !hasOnly(parsed, KEYS)) return err('it is not a rails file');
  if (parsed['version'] !== VERSION) return err('its version is unknown');
  const overrides = overridesOf(parsed['settings']);
  if (!overrides.ok) return overrides;
  const change = changeOf(parsed['change']);
  return change.ok ? ok({ overrides: overrides.value, change: change.value }) : change;
}

function overridesOf(settings: unknown): Result<RailOverrides, string> {
  if (!isRecord(settings)) return err('its settings are missing');
  for (const [key, value] of Object.entries(settings)) {
    if (SETTINGS.get(key) !== typeof value)
      return err(`setting ${key} is unknown or has a bad type`);
  }
  if (settings['paused'] === false) return err('a pause that is off is not stored');
  const overrides: RailOverrides = settings;
  const problem = settingsProblem(overrides);
  return problem === undefined ? ok(overrides) : err(problem);
}

function changeOf(change: unknown): Result<RailChange | undefined, string> {
  if (change === undefined) return ok(undefined);
  if (!isRecord(change) || !hasOnly(change, CHANGE_KEYS)) return err('its change is malformed');
  const { by, unixNanos, reason } = change;
  const isText = typeof by === 'string' && typeof unixNanos === 'string';
  if (!isText || typeof reason !== 'string' || !/^\d{1,19}$/.test(unixNanos)) {
    return err('its change is malformed');
  }
  return ok({ by, unixNanos: BigInt(unixNanos), reason });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasOnly(record: Readonly<Record<string, unknown>>, keys: ReadonlySet<string>): boolean {
  return Object.keys(record).every((key) => keys.has(key));
}
