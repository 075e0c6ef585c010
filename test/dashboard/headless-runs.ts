// The playground's scenarios as Node decides them, straight from the simulator: what a tab must equal, cycle
// by cycle. A tab shows one hash over the action hashes of all cycles; it is made again here.

import { textDigest } from '@bigfleet/base';
import { asWritten, IncrementalEngine, watchedScenarios } from '@bigfleet/sim';

/** Of every visitor who changes nothing. */
const SEED = '1';

export interface HeadlessScenario {
  readonly title: string;
  /** 16 hex digits. */
  readonly chain: string;
}

export function headlessRuns(): readonly HeadlessScenario[] {
  return watchedScenarios.map((scenario) => {
    const engine = new IncrementalEngine();
    const seed = BigInt(`0x${hexOf(SEED)}`);
    const world = scenario.open({ decide: engine.decide, seed, settings: asWritten });
    let chain = '';
    for (let cycle = 0; cycle < scenario.lastCycle && world.step() !== undefined; cycle += 1) {
      chain = hexOf(`${chain} ${engine.actionHash}`);
    }
    const violations = world.violations();
    if (violations.length > 0) throw new Error(`${scenario.id}: ${violations.join('; ')}`);
    return { title: scenario.title, chain };
  });
}

function hexOf(text: string): string {
  const { low, high } = textDigest(text);
  return [high, low].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}
