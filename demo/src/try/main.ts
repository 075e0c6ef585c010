// The five things to try on a running demo: `node demo/src/try.ts scale|zone|spot|shard|gang`, with nothing
// but the checkout. Each does one thing, says what it did, where to watch it and how it ends. 0: done;
// 1: no demo, or it refused; 2: bad options.

import { BigFleetError } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { nearestName } from '@bigfleet/process/flags';
import { chooseDemo, runningDemos } from '../control/running-demo.ts';
import { type Trial, TRIALS } from '../view/try.ts';
import { parseTrialOptions, trialUsage } from './options.ts';
import { type Told, trials } from './trials.ts';

const OK = 0;
const FAILED = 1;
const USAGE = 2;

export async function main(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const [name = '', ...rest] = args;
  if (!isTrial(name)) {
    const nearest = nearestName(TRIALS, name);
    const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    return failed(`${JSON.stringify(name)}: one of ${TRIALS.join(', ')}${hint}`, USAGE);
  }
  const options = parseTrialOptions(name, rest, env);
  if (!options.ok) return failed(`${options.problem}\n${trialUsage(name)}`, USAGE);
  try {
    const demo = chooseDemo(runningDemos(), options.value.demo);
    const told = await trials[name]({ runtime: realRuntime(), demo, options: options.value });
    for (const line of linesOf(told)) process.stdout.write(`${line}\n`);
    return OK;
  } catch (error) {
    if (!(error instanceof BigFleetError)) throw error;
    return failed(error.message, FAILED);
  }
}

function linesOf({ did, watch, ends }: Told): readonly string[] {
  return [
    did,
    '',
    'Watch:',
    ...watch.map(([where, what]) => `  ${where}\n      ${what}`),
    '',
    `Ends:  ${ends}`,
  ];
}

function isTrial(name: string): name is Trial {
  return (TRIALS as readonly string[]).includes(name);
}

function failed(text: string, code: number): number {
  process.stderr.write(`${text}\n`);
  return code;
}
