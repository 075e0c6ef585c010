// The fake as a process: what the conformance suite's self-test boots. Prints one line with its
// address once it serves, and ends on SIGINT or SIGTERM. Exit codes: 0 stopped, 2 usage or start.

import { once } from 'node:events';
import { describeThrown } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { tlsFromFlags } from '@bigfleet/wire';
import { FakeProvider } from './fake/fake-provider.ts';
import { seedSpecs } from './fake/seed.ts';
import { type FakeFlags, parseFakeFlags, USAGE } from './fake-options.ts';
import { serveFake } from './fake-server.ts';

async function run(flags: FakeFlags): Promise<void> {
  const runtime = realRuntime();
  const fake = new FakeProvider({
    runtime,
    label: flags.provider,
    instantTransitions: flags.instant,
    latencyMs: flags.latencyMs,
    isFixedCapacity: flags.isFixedCapacity,
    strictTokens: flags.strictTokens,
    createLatencyMs: flags.createLatencyMs,
  });
  for (const spec of seedSpecs({ provider: flags.provider, count: flags.seedCount })) {
    fake.addSpeculative(spec);
  }
  const tls = tlsFromFlags({ ...flags.tls });
  const { reflection } = flags;
  const server = await serveFake({
    runtime,
    fake,
    listen: flags.addr,
    reflection,
    ...(tls === 'plaintext' ? {} : { tls }),
  });
  process.stdout.write(`fake provider listening on ${server.address}\n`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await server.stop();
}

const flags = parseFakeFlags(process.argv.slice(2));
if (flags.ok) {
  try {
    await run(flags.value);
  } catch (error) {
    process.stderr.write(`fake provider: ${describeThrown(error)}\n`);
    process.exitCode = 2;
  }
} else {
  process.stderr.write(`fake provider: ${flags.error}\n${USAGE}\n`);
  process.exitCode = 2;
}
