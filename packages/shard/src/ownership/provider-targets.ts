// Which providers this shard dials: its flags, else the set that the coordinator's client stored in
// providers.json, so that a restart during a coordinator outage finds them (shard §13). Read
// strictly: a file that is not fully understood could name half a fleet, so it refuses the start.

import { BigFleetError, describeThrown } from '@bigfleet/base';
import { MAX_PROVIDERS } from '../provider/provider-set.ts';
import type { DurableFile } from '../rails/durable-file.ts';

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
  let text: string | undefined;
  try {
    text = await file.read();
  } catch (cause) {
    throw corrupt(file, `it cannot be read: ${describeThrown(cause)}`);
  }
  if (text === undefined) return [];
  const targets = parse(text);
  if (targets === undefined) throw corrupt(file, 'it is not a providers file');
  const problem = targetsProblem(targets);
  if (problem !== undefined) throw corrupt(file, problem);
  return targets;
}

function parse(text: string): readonly ProviderTarget[] | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined; // not JSON: the caller says so
  }
  if (!isRecord(parsed) || parsed['version'] !== VERSION) return undefined;
  const { providers } = parsed;
  if (!Array.isArray(providers)) return undefined;
  const targets: ProviderTarget[] = [];
  for (const entry of providers as readonly unknown[]) {
    if (!isRecord(entry)) return undefined;
    const target = targetOf(entry);
    if (target === undefined) return undefined;
    targets.push(target);
  }
  return targets;
}

/** Region and marks are written only when they say something. */
function targetOf(entry: Readonly<Record<string, unknown>>): ProviderTarget | undefined {
  const { name, address, region = '', shared = false, retiring = false } = entry;
  if (typeof name !== 'string' || typeof address !== 'string') return undefined;
  if (typeof region !== 'string' || typeof shared !== 'boolean') return undefined;
  if (typeof retiring !== 'boolean') return undefined;
  return {
    name,
    address,
    ...(region === '' ? {} : { region }),
    ...(shared ? { isShared: true } : {}),
    ...(retiring ? { isRetiring: true } : {}),
  };
}

export function formatProvidersFile(targets: readonly ProviderTarget[]): string {
  const providers = targets.map(({ name, address, region, isShared, isRetiring }) => ({
    name,
    address,
    ...(region === undefined || region === '' ? {} : { region }),
    ...(isShared === true ? { shared: true } : {}),
    ...(isRetiring === true ? { retiring: true } : {}),
  }));
  return `${JSON.stringify({ version: VERSION, providers }, undefined, 2)}\n`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function corrupt({ path }: DurableFile, problem: string): BigFleetError {
  return new BigFleetError('providers_file_corrupt', `${path} cannot be used: ${problem}`);
}
