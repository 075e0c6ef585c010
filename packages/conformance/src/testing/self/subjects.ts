// What `make conformance-self` judges: the in-tree fake, which has neither durability nor fault
// hooks, and the template, which has everything. Both are booted as processes: the suite imports
// neither the shard nor a provider.

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Profile } from '../../catalogue/behaviour.ts';
import { type Launch, repositoryLaunch } from '../../process/launch.ts';

export interface SelfSubject {
  readonly name: string;
  readonly launch: Launch;
  /** The same, and negative fencing tokens are refused. */
  readonly strictLaunch: Launch;
  readonly isKitProvider: boolean;
  readonly profiles: readonly Profile[];
  /** Fewer is a failure even if nothing failed: a skip here is a hole in our own evidence. */
  readonly expectedPassedCount: number;
}

const repositoryRoot: string = fileURLToPath(new URL('../../../../../', import.meta.url));

const fakeMain: string = path.join(repositoryRoot, 'packages/shard/src/testing/fake-main.ts');

export function fakeLaunch(flags: readonly string[] = []): Launch {
  return {
    name: 'fake',
    prefersState: false,
    command: ({ address, seedCount }) => ({
      file: process.execPath,
      args: [fakeMain, `--addr=${address}`, `--seed-count=${seedCount}`, ...flags],
      cwd: repositoryRoot,
    }),
  };
}

function templateLaunch(flags: readonly string[] = []): Launch {
  return repositoryLaunch(repositoryRoot, '_template', 'conformance', flags);
}

export const selfSubjects: readonly SelfSubject[] = [
  {
    name: 'template',
    launch: templateLaunch(),
    strictLaunch: templateLaunch(['--strict-tokens']),
    isKitProvider: true,
    profiles: ['core', 'cloud', 'spot', 'fault', 'durable', 'scale'],
    expectedPassedCount: 93,
  },
  {
    name: 'fake',
    launch: fakeLaunch(),
    strictLaunch: fakeLaunch(['--strict-tokens']),
    isKitProvider: false,
    profiles: ['core', 'cloud', 'spot', 'scale'],
    expectedPassedCount: 78,
  },
];
