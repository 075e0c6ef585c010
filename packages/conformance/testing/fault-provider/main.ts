// The reference fault provider's process: the kit around a backend that misbehaves on request.
// It always runs on its own imaginary substrate and serves no metrics, so that it can stand beside
// any provider under test.

import { realRuntime } from '@bigfleet/base/real';
import {
  duration,
  parseProviderFlags,
  type ProviderDefinition,
  runProvider,
} from '@bigfleet/providerkit';
import { FaultBackend } from './fault-backend.ts';

const DEFAULT_TIMEOUT_MS = 2_000;

const flags = {
  'transition-timeout': duration('2s', 'Timeout of all four transitions.'),
};

function definition(timeoutMs: number): ProviderDefinition<typeof flags> {
  return {
    name: 'fault',
    version: '0.1.0',
    flags,
    offerings: { capacityTypes: ['OnDemand', 'Spot'] },
    // Only counted: the backend describes its own slots.
    defaultMix: [
      { instanceType: 'fault-standard-4', zone: 'fault-zone-a', capacityType: 'OnDemand' },
    ],
    kit: {
      timeouts: {
        create: timeoutMs,
        configure: timeoutMs,
        drain: timeoutMs,
        delete: timeoutMs,
      },
    },
    createBackend: ({ provider: label, flags: given, runtime }) => ({
      backend: new FaultBackend({
        label,
        seedCount: given['seed-count'],
        transitionTimeoutMs: timeoutMs,
        timers: runtime.timers,
      }),
      priceOf: () => 0.4,
    }),
  };
}

// Of a flag that is given twice the last counts: these are defaults of its own.
const ownDefaults = ['--use-fake-backend', '--metrics-addr=', '--addr=:9400', '--seed-count=64'];
const argv = [...ownDefaults, ...process.argv.slice(2)];
const parsed = parseProviderFlags(definition(DEFAULT_TIMEOUT_MS), { argv, env: process.env });
const timeoutMs =
  parsed.kind === 'settings' ? parsed.settings.flags['transition-timeout'] : DEFAULT_TIMEOUT_MS;
process.exitCode = await runProvider({
  ...definition(timeoutMs),
  runtime: realRuntime(),
  argv,
  env: process.env,
});
