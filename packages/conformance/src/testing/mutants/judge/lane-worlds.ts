// One behaviour, judged on a provider of its own: each check gets a fresh world as its lane would
// set it up (conformance §4), only smaller. So an outcome depends on the mutant and the behaviour
// alone, never on what an earlier check left behind or on the order of the run.

import type { BaselineCheck } from '../../../baseline/index.ts';
import {
  type Capabilities,
  type Check,
  type CheckContext,
  CheckFailed,
  SkipCheck,
} from '../../../harness/check.ts';
import { probeCapabilities } from '../../../harness/probe.ts';
import { KitSubject, type KitSubjectOptions } from '../../../harness/testing/kit-subject.ts';
import type { Layers } from '../../../harness/testing/layers.ts';
import {
  createTime,
  createWorld,
  type Outcome,
  type World,
} from '../../../harness/testing/world.ts';
import { behaviourOf } from '../../../catalogue/catalogue.ts';
import { crossRestart } from '../../../behaviours/index.ts';
import { laneOf } from '../../../run/lane-names.ts';

const SLOTS = 64;
const FAULT_TIMEOUT_MS = 2_000;
/** Longer than any check waits for the machine whose Configure a kill interrupts. */
const DURABLE_TIMEOUT_MS = 30_000;
const SOAK_MS = 200;
/** Beyond one page of B1103, which asks for more than 500. */
const SCALE_SLOTS = 600;
/** B1103 threads pages of 500: only a third page shows what became of the second one's cursor. */
const PAGED_SLOTS = 1_100;

export type MakeLayers = () => Layers;

/** As the lanes do: what a provider does not offer is skipped, not failed. */
export async function probed(make: MakeLayers): Promise<Capabilities> {
  return onWorld(make, { seedCount: SLOTS }, (world) =>
    world.run(() => probeCapabilities(world.context('probe'))),
  );
}

export async function judgeCheck(
  make: MakeLayers,
  capabilities: Capabilities,
  check: Check,
): Promise<Outcome> {
  switch (laneOf(behaviourOf(check.id))) {
    case 'baseline':
    case 'extension':
      return onWorld(make, { seedCount: SLOTS }, (world) => world.judge(check, { capabilities }));
    case 'fault': {
      const subject = { seedCount: SLOTS, createFaultCount: 8, timeoutMs: FAULT_TIMEOUT_MS };
      const faultTimeoutMs = FAULT_TIMEOUT_MS;
      return onWorld(make, subject, (world) =>
        world.judge(check, { capabilities, faultTimeoutMs }),
      );
    }
    case 'durable': {
      const subject = { seedCount: SLOTS, timeoutMs: DURABLE_TIMEOUT_MS };
      return onWorld(make, subject, (world) => judgeAcrossRestart(world, check));
    }
    case 'scale': {
      const seedCount = check.id === 'B1103' ? PAGED_SLOTS : SCALE_SLOTS;
      const scale = { seedCount, soakMs: SOAK_MS };
      return onWorld(make, { seedCount }, (world) => world.judge(check, { capabilities, scale }));
    }
  }
}

/** All on one provider, as in its lane; by name. */
export async function judgeBaseline(
  make: MakeLayers,
  capabilities: Capabilities,
  checks: readonly BaselineCheck[],
): Promise<ReadonlyMap<string, Outcome>> {
  return onWorld(make, { seedCount: SLOTS }, async (world) => {
    const outcomes = new Map<string, Outcome>();
    for (const { name, run } of checks) {
      outcomes.set(name, await world.judge({ id: name, run }, { capabilities }));
    }
    return outcomes;
  });
}

/** Without a skip for absent capabilities, as in that lane. */
async function judgeAcrossRestart(world: World, check: Check): Promise<Outcome> {
  const process: CheckContext['process'] = {
    get endpoint() {
      return world.connect();
    },
    killAndReboot: () => world.killAndReboot(),
  };
  try {
    const before = world.context('restart');
    const durable = await world.run(() => crossRestart(before, () => world.killAndReboot()));
    return await world.judge(check, { durable, process });
  } catch (error) {
    // What kept it from crossing the restart is the finding of every behaviour about that.
    if (error instanceof CheckFailed) return { kind: 'failed', finding: error.message };
    if (!(error instanceof SkipCheck)) throw error;
    return { kind: 'skipped', skip: error.kind, reason: error.message };
  }
}

async function onWorld<T>(
  make: MakeLayers,
  subject: KitSubjectOptions,
  judge: (world: World) => Promise<T>,
): Promise<T> {
  const time = createTime();
  const world = await createWorld(new KitSubject(time, { ...subject, layers: make() }), time);
  try {
    return await judge(world);
  } finally {
    world.close();
  }
}
