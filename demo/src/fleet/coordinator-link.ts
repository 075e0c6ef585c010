// What the demo asks of the coordinator, over the wire like any administrator: zones for its shards,
// and the transfers as they are.

import { BigFleetError, runWithDeadline, type Runtime, sleep } from '@bigfleet/base';
import { ZONE_KEY } from '@bigfleet/engine';
import {
  type Channel,
  type Client,
  Coordinator,
  CoordinatorAdmin,
  createClient,
  createGrpcChannel,
  type TransferRecord,
} from '@bigfleet/wire';
import { type Profile, shardsOf } from '../profiles.ts';

const POLL_MS = 100;
const ASSIGNED_WITHIN_MS = 60_000;
/** A busy machine's disk takes its time, and a call that is cut off ends the demo. */
const CALL_WITHIN_MS = 20_000;

export interface CoordinatorLinkOptions {
  readonly runtime: Runtime;
  readonly profile: Profile;
  readonly target: string;
}

export class CoordinatorLink implements Disposable {
  readonly #runtime: Runtime;
  readonly #profile: Profile;
  readonly #channel: Channel;
  readonly #fleet: Client<typeof Coordinator>;
  readonly #admin: Client<typeof CoordinatorAdmin>;

  constructor({ runtime, profile, target }: CoordinatorLinkOptions) {
    this.#runtime = runtime;
    this.#profile = profile;
    this.#channel = createGrpcChannel({ runtime, target, unaryDeadlineMs: CALL_WITHIN_MS });
    this.#fleet = createClient(Coordinator, this.#channel);
    this.#admin = createClient(CoordinatorAdmin, this.#channel);
  }

  /** Every shard has its zones when this resolves, and nobody holds one of another. */
  async assignZones(signal: AbortSignal): Promise<void> {
    await runWithDeadline(this.#runtime, { ms: ASSIGNED_WITHIN_MS, parent: signal }, (within) =>
      this.#assign(within),
    );
  }

  async transfers(signal: AbortSignal): Promise<readonly TransferRecord[]> {
    const { transfers } = await this.#admin.listTransfers({ includeClosed: true }, { signal });
    return transfers;
  }

  async #assign(signal: AbortSignal): Promise<void> {
    const { zonesOfShard } = this.#profile;
    const all = shardsOf(this.#profile);
    await this.#until(signal, async () => {
      const { shards } = await this.#fleet.listShards({}, { signal });
      return all.every((id) => shards.some(({ shardId }) => shardId === id));
    });
    for (const shardId of all) {
      for (const topologyValue of zonesOfShard[shardId] ?? []) {
        await this.#fleet.assignDomain(
          { topologyKey: ZONE_KEY, topologyValue, shardId },
          { signal },
        );
      }
    }
    // Before any cluster asks for machines: a zone in which another shard's machines serve already is
    // handed over only when they are idle again.
    await this.#until(signal, async () => {
      const { reports } = await this.#fleet.listShardReports({ shardId: '' }, { signal });
      return all.every((id) =>
        reports.some(({ shardId, summary }) => shardId === id && (summary?.totalMachines ?? 0) > 0),
      );
    });
  }

  async #until(signal: AbortSignal, isSo: () => Promise<boolean>): Promise<void> {
    while (!(await isSo())) {
      if (signal.aborted) throw new BigFleetError('cancelled', 'the zones were not assigned');
      await sleep(this.#runtime, POLL_MS, signal);
    }
  }

  [Symbol.dispose](): void {
    this.#channel.close();
  }
}
