// Which providers this shard dials: its flags, else the set that the coordinator's client stored in
// providers.json, so that a restart during a coordinator outage finds them (shard §13). Read
// strictly: a file that is not fully understood could name half a fleet, so it refuses the start.

import { err, ok, type Result } from '@bigfleet/base';
import { MAX_PROVIDERS } from '../provider/provider-set.ts';
import { type DurableFile, readDurably } from '../rails/durable-file.ts';

export interface ProviderTarget {
  /** The registry's name; unique. */
  readonly name: string;
  readonly address: string;
  /** The rest is the registry's: absent from flags. */
  readonly region?: string;
  readonly isShared?: boolean;
  /** Dropped from the registry; dialled until its last machine is gone. */
  readonly isRetiring?: boolean;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
const VERSION = 1;

/** Undefined when the set may be used, else what is wrong with it. */
export function targetsProblem(targets: readonly ProviderTarget[]): string | undefined {
  if (targets.length > MAX_PROVIDERS) return `more than ${MAX_PROVIDERS} providers`;
  const names = new Set<string>();
  for (const { name, address } of targets) {
    if (!NAME.test(name)) return `provider name ${JSON.stringify(name)} is not a name`;
    if (names.has(name)) return `two providers are named ${name}`;
    if (address === '' || /[\s@?]/.test(address)) {
      return `provider ${name}: ${JSON.stringify(address)} is not host:port or unix:/path`;
    }
    names.add(name);
  }
  return undefined;
}

/** Empty when nothing was stored. */
export async function readProvidersFile(file: DurableFile): Promise<readonly ProviderTarget[]> {
  return (await readDurably(file, 'providers_file_corrupt', parse)) ?? [];
}

function parse(text: string): Result<readonly ProviderTarget[], string> {
  const targets = targetsIn(text);
  if (targets === undefined) return err('it is not a providers file');
  const problem = targetsProblem(targets);
  return problem === undefined ? ok(targets) : err(problem);
}

function targetsIn(text: string): readonly ProviderTarget[] | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined; // not JSON: the caller says so
  }
  if (!isRecord(parsed) || parsed['version'] !== VERSION) return undefined;
  const { providers } = parsed;
  if (!Array.isArray(providers)) return undefined;
  const targets = providers.map(targetOf);
  return targets.includes(undefined) ? undefined : (targets as ProviderTarget[]);
}

function targetOf(entry: unknown): ProviderTarget | undefined {
  if (!isRecord(entry)) return undefined;
  const { name, address, region = '', shared = false, retiring = false } = entry;
  if (typeof name !== 'string' || typeof address !== 'string') return undefined;
  if (typeof region !== 'string' || typeof shared !== 'boolean') return undefined;
  if (typeof retiring !== 'boolean') return undefined;
  return { name, address, region, isShared: shared, isRetiring: retiring };
}

/** Region and marks are written only when they say something. */
export function formatProvidersFile(targets: readonly ProviderTarget[]): string {
  const providers = targets.map(({ name, address, region, isShared, isRetiring }) => ({
    name,
    address,
    region,
    shared: isShared,
    retiring: isRetiring,
  }));
  const said = (_: string, value: unknown): unknown =>
    value === '' || value === false ? undefined : value;
  return `${JSON.stringify({ version: VERSION, providers }, said, 2)}\n`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
