// The demo's options, from flags or the environment: how long, how large, which seed, which ports, on which
// store. Which cluster to join comes from a flag alone: a kubeconfig that happens to be in somebody's
// environment is no consent to write into that cluster.

import { accessSync, constants } from 'node:fs';
import path from 'node:path';

import { parseDuration, readArguments, refusalText, text } from '@bigfleet/process/flags';
import { etcdBinary, NO_ETCD } from './etcd-binary.ts';
import {
  defaultPorts,
  type PortName,
  portNames,
  type Ports,
  portVariable,
  usedPorts,
} from './ports/ports.ts';
import {
  DEFAULT_PROFILE,
  isProfileName,
  type Profile,
  PROFILE_NAMES,
  profiles,
} from './profiles.ts';

export interface DemoOptions {
  /** Undefined: until Ctrl-C. */
  readonly forMs: number | undefined;
  readonly seed: string;
  readonly profile: Profile;
  readonly ports: Ports;
  /** Of `ports`, those that this run opens. */
  readonly usedPorts: readonly PortName[];
  /** The etcd that the coordinator runs on, three members of it; undefined: on SQLite. */
  readonly etcd: string | undefined;
  /** Files of a real cluster that joins, as `$KUBECONFIG` lists them; undefined: none does. */
  readonly kubeconfig: string | undefined;
}

export type ParsedOptions =
  | { readonly ok: true; readonly options: DemoOptions }
  | { readonly ok: false; readonly problem: string };

type Environment = Readonly<Record<string, string | undefined>>;
type Values = Readonly<Record<string, string | undefined>>;
type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

const DEFAULT_SEED = '12648430';
const MAX_FOR_MS = 3_600_000;
const MAX_PORT = 65_535;

const shownPorts = usedPorts({
  profile: profiles[DEFAULT_PROFILE],
  hasEtcd: false,
  hasJoined: false,
});

export const usage: string =
  `usage: make up [FOR=30s] [SEED=n] [PROFILE=${PROFILE_NAMES.join('|')}] [ETCD=1] ` +
  `[KUBECONFIG=file] ${shownPorts
    .map((name) => `[${portVariable(name)}=${defaultPorts[name]}]`)
    .join(' ')}`;

const flags = Object.fromEntries(
  ['for', 'seed', 'profile', 'etcd', 'kubeconfig', ...portNames.map((name) => `${name}-port`)].map(
    (name) => [name, text('', '')],
  ),
);

export function parseOptions(args: readonly string[], env: Environment): ParsedOptions {
  const read = readArguments(flags, args, { isLastCounted: true });
  if (!read.ok) return { ok: false, problem: refusalText(read.error) };
  const given = [...read.value.texts].map(([name, texts]) => [name, texts.at(-1)] as const);
  return check(Object.fromEntries(given), env);
}

function check(values: Values, env: Environment): ParsedOptions {
  const forMs = durationOf(values['for'] ?? env['FOR']);
  if (!forMs.ok) return forMs;
  const seed = values['seed'] ?? env['SEED'] ?? DEFAULT_SEED;
  if (!/^[\w.-]{1,64}$/.test(seed)) {
    return { ok: false, problem: `SEED=${seed}: letters, digits, dot, dash; at most 64` };
  }
  const profileName = values['profile'] ?? env['PROFILE'] ?? DEFAULT_PROFILE;
  if (!isProfileName(profileName)) {
    return { ok: false, problem: `PROFILE=${profileName}: one of ${PROFILE_NAMES.join(', ')}` };
  }
  const profile = profiles[profileName];
  const etcd = etcdOf(values['etcd'] ?? env['ETCD'] ?? '', env);
  if (!etcd.ok) return etcd;
  const ports = portsOf(values, env);
  if (!ports.ok) return ports;
  const { kubeconfig } = values;
  const unreadable = kubeconfig === undefined ? undefined : unreadableOf(kubeconfig);
  if (unreadable !== undefined) {
    return { ok: false, problem: `KUBECONFIG=${kubeconfig}: ${unreadable} cannot be read` };
  }
  const hasEtcd = etcd.value !== undefined;
  const used = usedPorts({ profile, hasEtcd, hasJoined: kubeconfig !== undefined });
  const twice = sharedPort(used.map((name) => ports.value[name]));
  if (twice !== undefined) return { ok: false, problem: `port ${twice} is given twice` };
  return {
    ok: true,
    options: {
      forMs: forMs.value,
      seed,
      profile,
      ports: ports.value,
      usedPorts: used,
      etcd: etcd.value,
      kubeconfig,
    },
  };
}

function durationOf(given: string | undefined): Read<number | undefined> {
  if (given === undefined) return { ok: true, value: undefined };
  const parsed = parseDuration(given);
  if (parsed.ok && parsed.value >= 1 && parsed.value <= MAX_FOR_MS) return parsed;
  return { ok: false, problem: `FOR=${given}: say 30s or 2m, at most 60m` };
}

function etcdOf(given: string, env: Environment): Read<string | undefined> {
  if (given === '' || given === '0') return { ok: true, value: undefined };
  if (given !== '1')
    return { ok: false, problem: `ETCD=${given}: 1 for a real etcd, 0 for SQLite` };
  const value = etcdBinary(env);
  return value === undefined ? { ok: false, problem: NO_ETCD } : { ok: true, value };
}

function portsOf(values: Values, env: Environment): Read<Ports> {
  const ports = { ...defaultPorts };
  for (const name of portNames) {
    const given = values[`${name}-port`] ?? env[portVariable(name)];
    if (given === undefined) continue;
    const port = Number(given);
    if (!Number.isInteger(port) || port < 1 || port > MAX_PORT) {
      return { ok: false, problem: `${portVariable(name)}=${given}: a port from 1 to ${MAX_PORT}` };
    }
    ports[name] = port;
  }
  return { ok: true, value: ports };
}

/** The first file of the list that is not there; the whole list when it names none. */
function unreadableOf(kubeconfig: string): string | undefined {
  const files = kubeconfig.split(path.delimiter).filter((file) => file !== '');
  if (files.length === 0) return 'an empty list';
  return files.find((file) => {
    try {
      accessSync(file, constants.R_OK);
      return false;
    } catch {
      return true;
    }
  });
}

function sharedPort(used: readonly number[]): number | undefined {
  return used.find((port, at) => used.indexOf(port) !== at);
}
