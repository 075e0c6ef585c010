// Which of a module's programs come from $KUBEBUILDER_ASSETS, and which are built. A folder of assets often
// holds only etcd, kube-apiserver and kubectl: what it lacks is built beside it. Kubernetes' own programs are
// mixed only within one minor version, because a controller manager or scheduler that is newer than its
// API server is not supported, and an older one proves less than it says.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export interface Origin {
  /** Path of each program that the assets bring. */
  readonly taken: Readonly<Record<string, string>>;
  /** The others, to be built. */
  readonly lacking: readonly string[];
  /** Why assets that are there are left alone. */
  readonly unusable?: string;
}

export interface OriginQuestion {
  readonly programs: readonly string[];
  /** Empty when none is named. */
  readonly assets: string;
  /** `1.36` of a module that is built; undefined when its programs do not depend on each other. */
  readonly minor: string | undefined;
  readonly hasFile?: (path: string) => boolean;
  /** `1.36` as the program tells it; undefined when it cannot be asked. */
  readonly minorOf?: (path: string) => string | undefined;
}

export function originOf(question: OriginQuestion): Origin {
  const { programs, assets, minor, hasFile = existsSync, minorOf = askMinor } = question;
  const paths = assets === '' ? [] : programs.map((name) => [name, join(assets, name)] as const);
  const there = paths.filter(([, path]) => hasFile(path));
  const lacking = programs.filter((name) => there.every(([other]) => other !== name));
  const taken = Object.fromEntries(there);
  if (there.length === 0 || lacking.length === 0 || minor === undefined) return { taken, lacking };
  const other = there.find(([, path]) => minorOf(path) !== minor);
  if (other === undefined) return { taken, lacking };
  const [name, path] = other;
  const unusable = `${name} in $KUBEBUILDER_ASSETS is ${minorOf(path) ?? 'of no known version'}, and ${lacking.join(', ')}, which it lacks, would be ${minor}`;
  return { taken: {}, lacking: programs, unusable };
}

const VERSION = /v(\d+\.\d+)\.\d+/;
const TELL_WITHIN_MS = 30_000;

function askMinor(path: string): string | undefined {
  for (const args of [['--version'], ['version', '--client']]) {
    const { stdout, status } = spawnSync(path, args, { encoding: 'utf8', timeout: TELL_WITHIN_MS });
    if (status === 0) return VERSION.exec(stdout)?.[1];
  }
  return undefined;
}
