// SnapshotSave: the state as of every write acknowledged before the call, meta first, then chunks.
// Leader only: a follower's copy can lag, and a backup that silently lacks recent writes is worse
// than a failed call. The leadership is looked at again when the copy is complete.

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { type Coordinator, type Handlers, RpcError, SnapshotFormat } from '@bigfleet/wire';
import { encodeSnapshotMeta } from '../snapshots/snapshot-meta.ts';
import { spooledChunks, spoolSnapshot } from '../snapshots/spool.ts';
import { writeAudit } from './admin-handlers.ts';
import type { ServiceParts } from './router.ts';

const SPOOL_PREFIX = 'snapshot-save-';

/** Copies of a process that was killed while it saved. The caller holds the lock of the directory. */
export async function removeLostSpools(spoolDir: string): Promise<void> {
  const names = (await readdir(spoolDir)).filter((name) => name.startsWith(SPOOL_PREFIX));
  for (const name of names) await rm(path.join(spoolDir, name), { recursive: true, force: true });
}

export function snapshotHandlers(
  parts: Pick<ServiceParts, 'gate' | 'logger' | 'store' | 'runtime' | 'dataDir'>,
): Pick<Handlers<typeof Coordinator>, 'snapshotSave'> {
  const { gate, logger, store, runtime, dataDir } = parts;
  return {
    async *snapshotSave({ format }, call) {
      const leader = gate.leading();
      const name = format === SnapshotFormat.LOGICAL ? 'logical' : 'native';
      const directory = await mkdtemp(path.join(dataDir, SPOOL_PREFIX));
      try {
        const snapshot = await store.snapshot(name);
        if (snapshot === undefined) throw new RpcError('NOT_FOUND', 'coordinator: nothing to save');
        const file = path.join(directory, 'state');
        const meta = await spoolSnapshot(snapshot, { runtime, engine: store.engine, file });
        await gate.confirm(leader);
        const { term } = leader.ledger;
        const outcome = { kind: 'done', index: meta.index } as const;
        writeAudit(logger, { call, arguments: { format: name }, outcome, term });
        const metaJson = Buffer.from(encodeSnapshotMeta(meta));
        yield { payload: { case: 'metaJson', value: metaJson } };
        for await (const chunk of spooledChunks(file)) {
          yield { payload: { case: 'data', value: chunk } };
        }
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
  };
}
