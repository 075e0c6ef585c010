// A reader of the live feed as a dashboard would be: applies what it is told and keeps the state.
// Reads only when told to, so that a test decides how slow it is.

import assert from 'node:assert/strict';
import type {
  Client,
  MachineView,
  NeedView,
  ShardQuery,
  WatchFrame,
  WatchRequest,
} from '@bigfleet/wire';
import type { ReadStage } from './read-stage.ts';

export type Wants = Partial<
  Pick<WatchRequest, 'machines' | 'needs' | 'records' | 'clusterIds' | 'cursor' | 'minIntervalMs'>
>;

export class FeedClient {
  readonly machines: Map<string, MachineView> = new Map();
  readonly needs: Map<string, NeedView> = new Map();
  readonly frames: WatchFrame[] = [];
  cursor: Uint8Array = new Uint8Array(0);
  cycle = 0n;
  ended: unknown;
  readonly #stage: ReadStage;
  readonly #stream: AsyncIterableIterator<WatchFrame>;

  constructor(stage: ReadStage, client: Client<typeof ShardQuery>, wants: Wants) {
    this.#stage = stage;
    this.#stream = client.watch({ machines: true, needs: true, ...wants });
  }

  get kinds(): string[] {
    return this.frames.map(({ frame }) => frame.case ?? '');
  }

  /** Takes the next frame; undefined when there is none for now. */
  async next(): Promise<WatchFrame | undefined> {
    const step = this.#pending ?? this.#stream.next();
    this.#pending = step;
    let result: IteratorResult<WatchFrame> | undefined;
    step.then(
      (value) => (result = value),
      (error: unknown) => (this.ended = error),
    );
    await this.#stage.settle();
    if (result === undefined) return undefined;
    this.#pending = undefined;
    if (result.done === true) return undefined;
    this.#apply(result.value);
    return result.value;
  }

  #pending: Promise<IteratorResult<WatchFrame>> | undefined;

  /** Everything that is there by now. */
  async readAll(): Promise<void> {
    for (let frames = 0; frames < 10_000; frames++) {
      if ((await this.next()) === undefined) return;
    }
    assert.fail('the feed does not end');
  }

  close(): Promise<unknown> {
    return this.#stage.answer(Promise.resolve(this.#stream.return?.()));
  }

  #apply(message: WatchFrame): void {
    this.frames.push(message);
    if (message.cursor.length > 0) this.cursor = message.cursor;
    const { frame } = message;
    if (frame.case === 'hello' && !frame.value.resumed) this.#clear();
    if (frame.case === 'lagged') this.#clear();
    if (frame.case === 'snapshot') {
      for (const machine of frame.value.machines) this.machines.set(machine.machineId, machine);
      for (const need of frame.value.needs) this.needs.set(needKey(need), need);
    }
    if (frame.case === 'snapshotEnd') {
      assert.equal(this.machines.size, frame.value.machines);
      assert.equal(this.needs.size, frame.value.needs);
    }
    if (frame.case !== 'delta') return;
    const delta = frame.value;
    this.cycle = delta.cycle;
    for (const machine of delta.machinesChanged) this.machines.set(machine.machineId, machine);
    for (const id of delta.machinesRemoved) this.machines.delete(id);
    for (const need of delta.needsChanged) this.needs.set(needKey(need), need);
    for (const { clusterId, profileFingerprint, group } of delta.needsRemoved) {
      this.needs.delete([clusterId, profileFingerprint, group].join('\n'));
    }
  }

  #clear(): void {
    this.machines.clear();
    this.needs.clear();
  }
}

function needKey({ clusterId, profileFingerprint, need }: NeedView): string {
  return [clusterId, profileFingerprint, need?.group ?? ''].join('\n');
}
