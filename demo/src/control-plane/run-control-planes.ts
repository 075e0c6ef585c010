// All control planes of the demo in one process, until a signal. Problems go to its log, each line with
// the cluster in front.

import { BigFleetError, type Runtime } from '@bigfleet/base';
import { startControlPlane } from './control-plane.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** `args`: `--cluster=NAME=PORT` for each. */
export async function runControlPlanes(runtime: Runtime, args: readonly string[]): Promise<number> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort(new BigFleetError('cancelled', 'stopped by a signal'));
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  const started = await Promise.all(
    args.map(async (arg) => {
      const [, name = '', port = ''] = /^--cluster=([^=]+)=(\d+)$/.exec(arg) ?? [];
      if (name === '')
        throw new BigFleetError('flag_invalid', `${arg}: expected --cluster=NAME=PORT`);
      const onProblem = (problem: string): void => {
        process.stderr.write(`${name}: ${problem}\n`);
      };
      const options = { runtime, port: Number(port), signal: stop.signal, onProblem };
      return await startControlPlane(options);
    }),
  );
  process.stderr.write(`listening: ${args.join(' ')}\n`);
  await Promise.all(started.map(({ ended }) => ended));
  return 0;
}
