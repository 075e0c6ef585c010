// The state inside a SQLite file that a restore has copied: checked like a database at start, every
// row decoded, and its meta compared with what meta.json claims. The file itself is never installed;
// a fresh one is built from these rows, so nothing foreign inside it survives.

import { describeThrown } from '@bigfleet/base';
import { FleetState } from '../state/fleet-state.ts';
import { checkDatabase } from '../store/sqlite/check-database.ts';
import { FleetDatabase } from '../store/sqlite/fleet-database.ts';
import { storedRow } from '../store/stored-row.ts';
import type { LoadedState } from '../state/writes.ts';
import { malformedSnapshot, type SnapshotMeta } from './snapshot-meta.ts';

/** Throws `snapshot_malformed`. */
export function readSqliteState(file: string, archive: SnapshotMeta): LoadedState {
  const state = read(file);
  const { applyIndex, clusterUid } = state.meta;
  if (applyIndex !== archive.index || clusterUid !== archive.clusterUid)
    throw malformedSnapshot('meta.json describes another state');
  return state;
}

function read(file: string): LoadedState {
  try {
    checkDatabase(file);
    const database = new FleetDatabase(file, Number.MAX_SAFE_INTEGER);
    try {
      const state = { meta: database.meta(), rows: database.rows().map(storedRow) };
      // Decodes every row; what it cannot read it names.
      return { ...state, meta: new FleetState(state).meta };
    } finally {
      database.close();
    }
  } catch (error) {
    throw malformedSnapshot(`the state is no database: ${describeThrown(error)}`, error);
  }
}
