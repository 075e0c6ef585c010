// Until there is a shard, `make up` shows the ground it will stand on: the echo system on the
// in-memory transport, under seeded faults. The last line is one JSON object.

import { realRuntime } from '@bigfleet/base/real';
import { runEchoDemo } from './echo-demo.ts';
import { parseOptions } from './options.ts';
import { type Output, View } from './view.ts';

const stdout: Output = {
  isTTY: process.stdout.isTTY === true,
  write: (text) => {
    process.stdout.write(text);
  },
};

/** Resolves with the exit code: 0 also after Ctrl-C, 1 for a broken law, 2 for bad options. */
export async function main(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const parsed = parseOptions(args, env);
  if (!parsed.ok) {
    process.stderr.write(`${parsed.problem}\nusage: make up [FOR=30s] [SEED=n]\n`);
    return 2;
  }
  const { seed, wallMs } = parsed.options;
  const view = new View(stdout);
  view.line(`seed ${seed}: echo servers and clients under seeded faults, 10 times real speed`);
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  const runtime = realRuntime();
  const summary = await runEchoDemo({ runtime, view, seed, wallMs, signal: stop.signal });
  process.off('SIGINT', onSignal);
  process.off('SIGTERM', onSignal);
  for (const violation of summary.violations) view.line(`BROKEN LAW: ${violation}`);
  view.line(`event log: ${summary.logLines} lines, sha256 ${summary.logHash}`);
  view.line(`the same seed over ${summary.virtualMs} virtual ms gives the same hash every time`);
  view.line('This is all there is so far: the transport and its simulator. The shard comes next.');
  view.line(JSON.stringify(summary));
  return summary.violations.length === 0 ? 0 : 1;
}
