// Proves that a failing file call, whichever and however it fails, refuses commits with
// `store_unavailable` and nothing half-applied, that a crash around the failure loads only what was
// kept (plus at most one commit in doubt), and that the store goes on without a restart.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import type { Store, StoreChange } from '../store.ts';
import type { Files } from './files.ts';
import { createJournalStore } from './journal-store.ts';
import type { JournalLimits } from './options.ts';
import { type Fault, faultyFiles, FaultPlan } from './testing/faulty-files.ts';
import {
  INCARNATION,
  machine,
  PATH,
  scriptedCommit,
  spelled,
  stateAfter,
  stillRuntime,
} from './testing/scripted-commits.ts';
import { type DiskEvent, DiskState, SimulatedDisk } from './testing/simulated-disk.ts';

const limits: Partial<JournalLimits> = { minCompactBytes: 500, repairPauseMs: 0 };
const FAULTS: readonly Fault[] = ['ENOSPC', 'EIO', 'EIO-after', 'half-then-ENOSPC', 'short'];
const KILLED = { contents: 'all', entries: 'all' } as const;
const POWER_CUT = { contents: 'synced', entries: 'synced' } as const;
/** Disk operations after the fault at which a crash is tried. */
const CRASH_WINDOW = 25;

interface Run {
  readonly disk: SimulatedDisk;
  readonly keptCount: number;
  readonly refusedCount: number;
  /** The last commit was refused. */
  readonly endsInDoubt: boolean;
}

/** A start, commits one after the other, and a close, under the plan. */
async function runUnder(plan: FaultPlan, commitCount: number): Promise<Run> {
  const disk = new SimulatedDisk();
  plan.onFault = () => disk.note('fault');
  const store = await startAtLast(disk, () => {
    const files = faultyFiles(disk.files, plan);
    return createJournalStore({ path: PATH, runtime: stillRuntime, files, limits });
  });
  disk.note('started');
  let keptCount = 0;
  let endsInDoubt = false;
  for (let index = 0; index < commitCount; index++) {
    disk.note(`issued ${index}`);
    endsInDoubt = await store.commit(scriptedCommit(index)).then(() => false, isRefusal);
    disk.note(`${endsInDoubt ? 'refused' : 'kept'} ${index}`);
    if (!endsInDoubt) keptCount += 1;
  }
  // Closing may compact, and may fail to; neither may cost anything.
  await store.close().catch((error: unknown) => assert.match(String(error), /injected/));
  return { disk, keptCount, refusedCount: commitCount - keptCount, endsInDoubt };
}

function isRefusal(error: unknown): true {
  assert.ok(error instanceof BigFleetError, String(error));
  assert.equal(error.code, 'store_unavailable');
  return true;
}

/** The fault may hit the start: then that process ends and the next one tries again. */
async function startAtLast(disk: SimulatedDisk, create: () => Store): Promise<Store> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const store = create();
    try {
      if ((await store.load()) === undefined) await store.initialise(INCARNATION);
      return store;
    } catch (error) {
      isRefusal(error);
      disk.restart();
    }
  }
  throw new Error('the store did not start in 20 attempts');
}

/** Follows the notes of a run: which states may be found when it stops here. */
class Possible {
  readonly #kept: (readonly StoreChange[])[] = [];
  #open: (readonly StoreChange[])[] = [];
  isStarted = false;

  follow(event: DiskEvent): void {
    if (event.kind !== 'note') return;
    const [word, number] = event.text.split(' ');
    if (word === 'started') this.isStarted = true;
    if (word === 'issued') this.#open.push(scriptedCommit(Number(number)));
    if (word !== 'kept') return;
    this.#kept.push(scriptedCommit(Number(number)));
    this.#open = [];
  }

  /** A refused commit may come back alone, never behind a later one that was kept. */
  states(): readonly string[] {
    const withOne = this.#open.map((changes) => stateAfter([...this.#kept, changes]));
    return [stateAfter(this.#kept), ...withOne, ...(this.isStarted ? [] : ['first boot'])];
  }
}

async function checkCrashes({ disk }: Pick<Run, 'disk'>, where: string): Promise<void> {
  const state = new DiskState();
  const possible = new Possible();
  let left = 0;
  for (const [index, event] of disk.events.entries()) {
    state.apply(event);
    possible.follow(event);
    if (event.kind === 'note' && event.text === 'fault') left = CRASH_WINDOW;
    const isLast = index === disk.events.length - 1;
    if (event.kind === 'note' || (left-- <= 0 && !isLast)) continue;
    for (const survival of [KILLED, POWER_CUT]) {
      const files = new SimulatedDisk(state.after(survival)).files;
      const store = createJournalStore({ path: PATH, runtime: stillRuntime, files });
      const found = spelled(await store.load());
      const text = `${where}, event ${index} (${event.kind}), ${survival.contents}`;
      assert.ok(possible.states().includes(found), text);
    }
  }
}

async function callCountOf(commitCount: number): Promise<number> {
  const plan = new FaultPlan();
  const { refusedCount } = await runUnder(plan, commitCount);
  assert.equal(refusedCount, 0);
  return plan.callCount;
}

for (const fault of FAULTS) {
  test(`${fault} at every call, once`, async () => {
    const total = await callCountOf(14);
    let refusals = 0;
    for (let at = 0; at < total; at++) {
      const plan = new FaultPlan();
      plan.arm(fault, at);
      const run = await runUnder(plan, 14);
      refusals += run.refusedCount;
      assert.ok(run.refusedCount <= 1, `call ${at}: one fault, ${run.refusedCount} refusals`);
      await checkCrashes(run, `${fault} at ${at}`);
    }
    if (fault === 'short') assert.equal(refusals, 0, 'a short write is no failure');
    else assert.ok(refusals > 10, `the fault hit commits: ${refusals}`);
  });
}

test('a disk that fails for a while refuses for that while, and then takes commits again', async () => {
  for (const fault of ['ENOSPC', 'EIO', 'EIO-after', 'half-then-ENOSPC'] as const) {
    let refusals = 0;
    for (let at = 16; at < 60; at += 2) {
      for (const lasting of [2, 7]) {
        const plan = new FaultPlan();
        plan.arm(fault, at, lasting);
        const run = await runUnder(plan, 24);
        refusals += run.refusedCount;
        assert.ok(run.refusedCount <= lasting, `${fault} at ${at}: ${run.refusedCount}`);
        assert.equal(run.endsInDoubt, false, 'the last commits were kept');
        await checkCrashes(run, `${fault} at ${at} for ${lasting}`);
      }
    }
    assert.ok(refusals > 40, `${fault} hit commits: ${refusals}`);
  }
});

async function started(
  plan: FaultPlan,
): Promise<{ store: Store; disk: SimulatedDisk; setClock(ms: number): void }> {
  const disk = new SimulatedDisk();
  let nowMs = 0;
  const runtime = { ...stillRuntime, clock: { ...stillRuntime.clock, monotonicMs: () => nowMs } };
  const files = faultyFiles(disk.files, plan);
  const store = createJournalStore({ path: PATH, runtime, files, limits: { repairPauseMs: 100 } });
  await store.load();
  await store.initialise(INCARNATION);
  await store.commit(scriptedCommit(0));
  return {
    store,
    disk,
    setClock: (ms) => {
      nowMs = ms;
    },
  };
}

function journalBytes(disk: SimulatedDisk): number {
  const image = disk.state.after(KILLED);
  const names = [...image.keys()].filter((name) => name.includes('.journal.'));
  return image.get(names.at(-1) ?? '')?.length ?? 0;
}

test('the partial frame of a full disk is cut off, at once or before the next one', async () => {
  const long = [{ kind: 'machine', record: machine('x'.repeat(2_000), 1) }] as const;
  // Only the write fails: the cut follows at once. Write and cut fail: it follows later.
  for (const lasting of [1, 2]) {
    const plan = new FaultPlan();
    const { store, disk } = await started(plan);
    const before = journalBytes(disk);
    plan.arm('half-then-ENOSPC', 0, lasting);
    await assert.rejects(store.commit(long), { code: 'store_unavailable' });
    const left = journalBytes(disk) - before;
    assert.ok(lasting === 1 ? left === 0 : left > 1_000, `left behind: ${left}`);
    await store.commit(scriptedCommit(4));
    const size = journalBytes(disk) - before;
    assert.ok(size < 500, `the journal ends with the short frame: ${size}`);
  }
});

test('a repair that failed half-way is repeated without harm', async () => {
  const plan = new FaultPlan();
  const disk = new SimulatedDisk();
  const files = faultyFiles(disk.files, plan);
  const store = createJournalStore({ path: PATH, runtime: stillRuntime, files, limits });
  await store.load();
  await store.initialise(INCARNATION);
  disk.note('started');
  // The fsync of the commit, then the directory sync behind the renamed snapshot of the repair.
  let directorySyncs = 0;
  plan.onFault = () => disk.note('fault');
  plan.armWhen((call, index) => {
    if (call === 'sync' && index === 1) return 'EIO';
    return call === 'syncDirectory' && ++directorySyncs === 2 ? 'EIO' : undefined;
  });
  const outcomes: boolean[] = [];
  for (let index = 0; index < 3; index++) {
    disk.note(`issued ${index}`);
    const isRefused = await store.commit(scriptedCommit(index)).then(() => false, isRefusal);
    disk.note(`${isRefused ? 'refused' : 'kept'} ${index}`);
    outcomes.push(isRefused);
  }
  assert.deepEqual(outcomes, [true, true, false]);
  await checkCrashes({ disk }, 'repeated repair');
});

test('what a killed process had written but not synced is durable once it was loaded', async () => {
  const disk = new SimulatedDisk();
  let isSyncing = true;
  const hanging: Files = {
    ...disk.files,
    create: async (path) => {
      const file = await disk.files.create(path);
      const sync = (): Promise<void> => (isSyncing ? file.sync() : new Promise(() => {}));
      return { ...file, sync };
    },
  };
  const first = createJournalStore({ path: PATH, runtime: stillRuntime, files: hanging });
  await first.load();
  await first.initialise(INCARNATION);
  isSyncing = false;
  const neverAnswered = first.commit(scriptedCommit(0));
  for (let turn = 0; turn < 20; turn++) await stillRuntime.timers.turn();
  disk.restart();
  const second = createJournalStore({ path: PATH, runtime: stillRuntime, files: disk.files });
  const seen = spelled(await second.load());
  assert.equal(seen, stateAfter([scriptedCommit(0)]), 'the kernel still had it');
  const files = new SimulatedDisk(disk.state.after(POWER_CUT)).files;
  const third = createJournalStore({ path: PATH, runtime: stillRuntime, files });
  assert.equal(spelled(await third.load()), seen);
  assert.ok(neverAnswered instanceof Promise);
});

test('after a failed fsync nothing is appended to that journal, and attempts are spaced out', async () => {
  const plan = new FaultPlan();
  const { store, disk, setClock } = await started(plan);
  // Calls of a commit: write, fsync. Everything from the fsync on fails.
  plan.arm('EIO', 1, 1_000);
  await assert.rejects(store.commit(scriptedCommit(1)), { code: 'store_unavailable' });
  await assert.rejects(store.commit(scriptedCommit(2)), { code: 'store_unavailable' });
  const callsOfAttempt = plan.callCount;
  await assert.rejects(store.commit(scriptedCommit(2)), /waits for a working disk/);
  assert.equal(plan.callCount, callsOfAttempt, 'no new attempt before the pause is over');
  plan.disarm();
  setClock(101);
  await store.commit(scriptedCommit(4));
  const image = disk.state.after({ contents: 'synced', entries: 'all' });
  assert.deepEqual([...image.keys()].toSorted(), ['state.json', 'state.json.journal.2']);
  const files = new SimulatedDisk(image).files;
  const reopened = createJournalStore({ path: PATH, runtime: stillRuntime, files });
  assert.equal(spelled(await reopened.load()), stateAfter([scriptedCommit(0), scriptedCommit(4)]));
});
