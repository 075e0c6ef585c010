// The crash law, for any history: whatever survives a stop at any byte loads as a state between what
// was acknowledged and what was issued. A history is recorded on a simulated disk with notes of
// what the store's owner did; the sweep replays it and loads after every step.

import assert from 'node:assert/strict';
import type { Store, StoreChange } from '../../store.ts';
import { createJournalStore } from '../journal-store.ts';
import type { JournalLimits } from '../options.ts';
import { INCARNATION, PATH, spelled, stateAfter, stillRuntime } from './scripted-commits.ts';
import {
  type DiskEvent,
  type DiskImage,
  DiskState,
  SimulatedDisk,
  SURVIVALS,
} from './simulated-disk.ts';

/** One store after the other on one disk. Commits that a death cut off are taken back. */
export class History {
  readonly disk: SimulatedDisk = new SimulatedDisk();
  /** Issued and not cut off, in order. */
  readonly commits: (readonly StoreChange[])[] = [];
  readonly #limits: Partial<JournalLimits>;
  #store: Store;

  constructor(limits: Partial<JournalLimits>) {
    this.#limits = limits;
    this.#store = this.#open();
  }

  async begin(): Promise<void> {
    assert.equal(await this.#store.load(), undefined);
    await this.#store.initialise(INCARNATION);
    this.disk.note('initialised');
  }

  /** At once, so that they may share a frame. */
  async commit(batch: readonly (readonly StoreChange[])[]): Promise<void> {
    await Promise.all(batch.map((changes) => this.#issue(changes)));
  }

  /** The process writes so many more bytes of this commit and dies; the next one starts. */
  async dieDuring(changes: readonly StoreChange[], bytes: number): Promise<void> {
    const survivors = this.commits.length;
    this.disk.dieAfterBytes(bytes);
    const issued = this.#issue(changes).then(() => 'acknowledged' as const);
    const answer = await Promise.race([issued, turns(50)]);
    this.disk.restart();
    this.#store = this.#open();
    const found = spelled(await this.#store.load());
    // Asked first whether it is there: a commit that changes nothing looks the same either way.
    if (found !== stateAfter(this.commits)) {
      assert.equal(answer, undefined, 'an acknowledged commit is gone');
      this.commits.length = survivors;
      assert.equal(found, stateAfter(this.commits), 'all of the cut commit, or nothing');
    }
    this.disk.note(`restarted ${this.commits.length}`);
  }

  async reopen(): Promise<void> {
    await this.#store.close();
    this.#store = this.#open();
    assert.equal(spelled(await this.#store.load()), stateAfter(this.commits));
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #issue(changes: readonly StoreChange[]): Promise<void> {
    const number = this.commits.push(changes);
    this.disk.note(`issued ${number}`);
    await this.#store.commit(changes);
    this.disk.note(`acknowledged ${number}`);
  }

  #open(): Store {
    const { files } = this.disk;
    return createJournalStore({ path: PATH, runtime: stillRuntime, files, limits: this.#limits });
  }
}

/** How many loads were tried. Throws at the first that breaks the law. */
export async function sweep({ disk, commits }: History): Promise<number> {
  const states = commits.map((_, index) => stateAfter(commits.slice(0, index)));
  states.push(stateAfter(commits));
  const state = new DiskState();
  const progress = new Progress();
  let loads = 0;
  for (const [index, event] of disk.events.entries()) {
    for (const step of steps(event)) {
      for (const [survival, image] of cutAt(state, step, step !== event).entries()) {
        const where = `event ${index} (${step.kind}), survival ${survival}`;
        await checkLaw(image, { progress, states, where });
        loads += 1;
      }
    }
    state.apply(event);
    progress.follow(event);
  }
  assert.equal(progress.acknowledged, commits.length);
  return loads;
}

/** A write stops after each of its bytes; anything else happens or does not. */
function* steps(event: DiskEvent): Generator<DiskEvent> {
  if (event.kind === 'note') return;
  if (event.kind === 'write') {
    for (let length = 0; length < event.bytes.length; length++) {
      yield { ...event, bytes: event.bytes.subarray(0, length) };
    }
  }
  yield event;
}

/**
 * What may be left when the machine stops right after `step`. The first bytes of a write are not
 * synced, so where only synced contents survive they make no difference.
 */
function cutAt(before: DiskState, step: DiskEvent, isPartial: boolean): readonly DiskImage[] {
  const state = before.copy();
  state.apply(step);
  const survivals = SURVIVALS.filter(({ contents }) => !isPartial || contents === 'all');
  return survivals.map((survival) => state.after(survival));
}

class Progress {
  isInitialised = false;
  issued = 0;
  acknowledged = 0;

  follow(event: DiskEvent): void {
    if (event.kind !== 'note') return;
    const [word, number] = event.text.split(' ');
    if (word === 'initialised') this.isInitialised = true;
    if (word === 'issued') this.issued = Number(number);
    if (word === 'acknowledged') this.acknowledged = Number(number);
    // The load that came before made what it found durable: from here on it counts.
    if (word === 'restarted') this.issued = this.acknowledged = Number(number);
  }
}

interface Expectation {
  readonly progress: Progress;
  /** After 0, 1, 2, … commits. */
  readonly states: readonly string[];
  readonly where: string;
}

async function checkLaw(image: DiskImage, expected: Expectation): Promise<void> {
  const { progress, states, where } = expected;
  const files = new SimulatedDisk(image).files;
  const store = createJournalStore({ path: PATH, runtime: stillRuntime, files });
  let found: string;
  try {
    found = spelled(await store.load());
  } catch (error) {
    throw new Error(`${where}: the load failed`, { cause: error });
  }
  if (!progress.isInitialised && found === 'first boot') return;
  const possible = states.slice(progress.acknowledged, progress.issued + 1);
  assert.ok(possible.includes(found), `${where}: not a state that was acknowledged`);
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await stillRuntime.timers.turn();
}
