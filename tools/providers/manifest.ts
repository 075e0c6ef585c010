// What a provider says about itself, in its own package.json:
//   "bigfleet": {
//     "capacityTypes": ["OnDemand", "Spot"],
//     "profiles": ["core", "cloud", "spot"],
//     "substrate": "in memory"
//   }
// Profiles are what `make conformance-<name>` certifies; substrate says what it was ever run
// against. A wrong or missing entry is a problem of that file and stops the catalogue.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface ProviderEntry {
  readonly name: string;
  readonly version: string;
  readonly capacityTypes: readonly string[];
  readonly profiles: readonly string[];
  readonly substrate: string;
}

export interface Entries {
  readonly entries: readonly ProviderEntry[];
  /** `file: what`. */
  readonly problems: readonly string[];
}

/** The names of packages/conformance/src/catalogue/behaviour.ts, which tools may not import. */
const PROFILES: readonly string[] = [
  'core',
  'cloud',
  'bare-metal',
  'spot',
  'scale',
  'durable',
  'fault',
];
const CAPACITY_TYPES: readonly string[] = ['OnDemand', 'Spot', 'Reserved', 'BareMetal'];

/** Every folder below providers/, in order of name; none without that folder. */
export function readProviders(root: string): Entries {
  const folder = path.join(root, 'providers');
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
  const entries: ProviderEntry[] = [];
  const problems: string[] = [];
  for (const name of names) {
    const file = `providers/${name}/package.json`;
    const read = readEntry(name, path.join(root, file));
    if ('problems' in read) problems.push(...read.problems.map((problem) => `${file}: ${problem}`));
    else entries.push(read);
  }
  return { entries, problems };
}

function readEntry(name: string, file: string): ProviderEntry | { readonly problems: string[] } {
  const manifest = parse(file);
  if (typeof manifest === 'string') return { problems: [manifest] };
  const bigfleet = object(manifest['bigfleet']);
  if (bigfleet === undefined) return { problems: ['has no "bigfleet" section'] };
  const { version } = manifest;
  const { substrate } = bigfleet;
  const capacityTypes = listOf(bigfleet['capacityTypes'], CAPACITY_TYPES);
  const profiles = listOf(bigfleet['profiles'], PROFILES);
  const problems = [
    typeof version === 'string' && version !== '' ? undefined : 'has no version',
    typeof capacityTypes === 'string' ? `bigfleet.capacityTypes ${capacityTypes}` : undefined,
    typeof profiles === 'string' ? `bigfleet.profiles ${profiles}` : undefined,
    isLine(substrate) ? undefined : 'bigfleet.substrate is not one line of text',
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0 || typeof capacityTypes === 'string' || typeof profiles === 'string') {
    return { problems };
  }
  return {
    name,
    version: String(version),
    capacityTypes,
    profiles,
    substrate: String(substrate),
  };
}

function parse(file: string): Record<string, unknown> | string {
  try {
    return object(JSON.parse(readFileSync(file, 'utf8'))) ?? 'is not a JSON object';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function object(value: unknown): Record<string, unknown> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : undefined;
}

/** The list, or what is wrong with it. */
function listOf(value: unknown, known: readonly string[]): readonly string[] | string {
  if (!Array.isArray(value) || value.length === 0) return 'is not a list with members';
  const texts = value.map(String);
  const unknown = texts.find((text) => !known.includes(text));
  if (unknown !== undefined) return `has ${JSON.stringify(unknown)}: ${known.join(', ')}`;
  return new Set(texts).size === texts.length ? texts : 'names one twice';
}

function isLine(value: unknown): boolean {
  return typeof value === 'string' && /^[^\n|]+$/.test(value);
}
