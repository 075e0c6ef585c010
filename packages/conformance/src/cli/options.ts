// From flags and environment to what a run needs, or to the first thing that is wrong with them.
// Nothing is dialled or booted here.

import { existsSync } from 'node:fs';
import { BigFleetError, err, ok, type Result } from '@bigfleet/base';
import { tlsFromFlags, type TlsMaterial } from '@bigfleet/wire';
import type { Profile } from '../catalogue/behaviour.ts';
import type { Check } from '../harness/check.ts';
import type { SubjectLaunch, SuiteOptions } from '../lanes/suite.ts';
import { providerMain, repositoryLaunch, startCommandLaunch } from '../process/launch.ts';
import { declaredProfiles } from './declared-profiles.ts';
import type { FlagName, FlagValues } from './flags.ts';
import {
  readCount,
  readDurationMs,
  readFactor,
  readIds,
  readProfiles,
  readTarget,
} from './values.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface OptionSources {
  readonly values: FlagValues;
  readonly env: Environment;
  /** Where `providers/` is looked for unless BIGFLEET_SRC says otherwise. */
  readonly cwd: string;
  readonly checks: readonly Check[];
}

const MAX_SLOTS = 1_000_000;
const MAX_PORT = 65_535;

/** A value was given and is wrong; caught once, in readOptions. */
class UsageError extends Error {}

export function readOptions(sources: OptionSources): Result<SuiteOptions, string> {
  try {
    return ok(optionsOf(sources));
  } catch (error) {
    if (error instanceof UsageError) return err(error.message);
    // Certificates that cannot be read or do not match.
    if (error instanceof BigFleetError && error.kind === 'user') return err(error.message);
    throw error;
  }
}

function optionsOf(sources: OptionSources): SuiteOptions {
  const { values, checks } = sources;
  const read: ReadFlag = (name, reader) => {
    const text = values.get(name);
    return text === undefined ? undefined : checked(`-${name}`, reader(text));
  };
  const tls = tlsOf(sources);
  const target = targetOf(sources, read);
  const subject = subjectOf(sources, tls);
  if (target === undefined && subject === undefined) {
    throw new UsageError('nothing to judge: give -target, -provider or -start-cmd');
  }
  const faultTarget = read('fault-target', readTarget);
  if (tls !== undefined && (target ?? faultTarget ?? values.get('start-cmd')) === undefined) {
    throw new UsageError(
      '-tls-* need -target, -fault-target or -start-cmd: -provider is plaintext',
    );
  }
  const profiles = profilesOf(sources, read);
  requireState(values, profiles);
  return {
    provider: values.get('provider') ?? target ?? 'start-cmd',
    target: target === undefined ? undefined : { target, tls },
    subject,
    faultTarget: faultTarget === undefined ? undefined : { target: faultTarget, tls },
    profiles,
    checks,
    only: read('only', readIds),
    skipBaseline: values.get('skip-baseline') === 'true',
    seed: values.get('seed') ?? '1',
    timeScale: read('time-scale', readFactor) ?? 1,
    seedCount: read('seed-count', (text) => readCount(text, MAX_SLOTS)) ?? 256,
    basePort: read('port', (text) => readCount(text, MAX_PORT)) ?? 0,
    scale: scaleOf(sources, read, subject !== undefined),
  };
}

type ReadFlag = <T>(name: FlagName, reader: (text: string) => Result<T, string>) => T | undefined;

function checked<T>(source: string, result: Result<T, string>): T {
  if (result.ok) return result.value;
  throw new UsageError(`${source}: ${result.error}`);
}

function targetOf({ values, env }: OptionSources, read: ReadFlag): string | undefined {
  const given = read('target', readTarget);
  const fromEnv = env['BIGFLEET_PROVIDER_TARGET'] ?? '';
  const isNamed = values.has('provider') || values.has('start-cmd');
  if (given !== undefined || fromEnv === '' || isNamed) return given;
  return checked('BIGFLEET_PROVIDER_TARGET', readTarget(fromEnv));
}

function subjectOf(
  { values, env, cwd }: OptionSources,
  tls: TlsMaterial | undefined,
): SubjectLaunch | undefined {
  const command = values.get('start-cmd');
  if (command !== undefined) {
    if (!command.includes('{addr}')) {
      throw new UsageError('-start-cmd: without {addr} the suite cannot tell it where to listen');
    }
    return { launch: startCommandLaunch(command, cwd), tls, isKitProvider: false };
  }
  const name = values.get('provider');
  if (name === undefined) return undefined;
  const root = rootOf(env, cwd);
  const exists = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(name) && existsSync(providerMain(root, name));
  if (exists) {
    const label = values.get('host-label') ?? 'certify';
    return { launch: repositoryLaunch(root, name, label), isKitProvider: true };
  }
  // With a target the name may be anyone's: it is for the report only.
  if (values.has('target')) return undefined;
  throw new UsageError(`-provider: no providers/${name}/src/main.ts below ${root}`);
}

function profilesOf(sources: OptionSources, read: ReadFlag): readonly Profile[] {
  const { values, env, cwd } = sources;
  const claimed = new Set<Profile>();
  if (values.get('profile') === 'declared') {
    const name = values.get('provider');
    if (name === undefined) throw new UsageError('-profile declared needs -provider');
    const declared = declaredProfiles(rootOf(env, cwd), name);
    for (const profile of checked('-profile declared', declared)) claimed.add(profile);
  } else {
    for (const profile of read('profile', readProfiles) ?? ['core']) claimed.add(profile);
  }
  // Whoever names the means asks for the lane; only an explicit list of profiles can leave
  // durability out, since a start command also boots the other lanes.
  if (values.has('fault-target')) claimed.add('fault');
  if (values.has('start-cmd') && !values.has('profile')) claimed.add('durable');
  return [...claimed];
}

function requireState(values: FlagValues, profiles: readonly Profile[]): void {
  const command = values.get('start-cmd');
  if (command === undefined || command.includes('{state}') || !profiles.includes('durable')) return;
  throw new UsageError('-start-cmd: profile durable needs {state}; or claim -profile core alone');
}

/** Two defaults (conformance §7): what we boot is large, what others run is what it is. */
function scaleOf({ env }: OptionSources, read: ReadFlag, isBooted: boolean): SuiteOptions['scale'] {
  const readSeed = (text: string): Result<number, string> => readCount(text, MAX_SLOTS);
  const fromEnv = <T>(name: string, reader: (text: string) => Result<T, string>): T | undefined => {
    const text = env[name] ?? '';
    return text === '' ? undefined : checked(name, reader(text));
  };
  return {
    seedCount:
      read('scale-seed', readSeed) ??
      fromEnv('BFCONF_SCALE_SEED', readSeed) ??
      (isBooted ? 8_000 : 4_000),
    soakMs:
      read('soak', readDurationMs) ??
      fromEnv('BFCONF_SOAK', readDurationMs) ??
      (isBooted ? 10_000 : 8_000),
  };
}

function tlsOf({ values, env }: OptionSources): TlsMaterial | undefined {
  const material = tlsFromFlags({
    cert: values.get('tls-cert'),
    key: values.get('tls-key'),
    ca: values.get('tls-ca'),
    env,
  });
  return material === 'plaintext' ? undefined : material;
}

function rootOf(env: Environment, cwd: string): string {
  const source = env['BIGFLEET_SRC'] ?? '';
  return source === '' ? cwd : source;
}
