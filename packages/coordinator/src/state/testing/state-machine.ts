// The state machine alone, for tests: commands in, results out, no engine and no queue. Every state
// it reaches can be loaded back from its rows, which is checked by whoever asks for `rows`.

import type { CommandBody } from '../commands.ts';
import { decide } from '../decide/decide.ts';
import type { Decision } from '../decide/decision.ts';
import { FleetState } from '../fleet-state.ts';
import { SCHEMA } from '../meta.ts';
import { encodeRow } from '../row-format.ts';
import type { Meta, LoadedState, StoredRow, Change, RowKey } from '../rows.ts';

export const FIRST_META: Meta = {
  schema: SCHEMA,
  clusterUid: '00112233445566778899aabbccddeeff',
  term: 1n,
  applyIndex: 0,
  lastCommandId: '',
  assignmentRevision: 0,
  ledgerGeneration: 0,
};

const START_MS = 1_767_225_600_000;

/** As the ledger answers, without what only an engine or a queue can say. */
export type StepResult =
  | Exclude<Decision, { readonly kind: 'change' }>
  | { readonly kind: 'applied'; readonly index: number };

export class StateMachine {
  readonly state: FleetState = new FleetState({ meta: FIRST_META, rows: [] });
  readonly #stored = new Map<RowKey, StoredRow>();
  nowMs: number = START_MS;
  lastChange: Change | undefined;

  apply(body: CommandBody): StepResult {
    const index = this.state.meta.applyIndex + 1;
    const command = { ...body, commandId: `c${index}`, issuedAtMs: this.nowMs };
    const decision = decide(this.state, command, index);
    if (decision.kind !== 'change') return decision;
    this.lastChange = decision.change;
    for (const write of decision.change.writes) {
      const { table, key } = write;
      if (write.kind === 'delete') this.#stored.delete(key);
      else this.#stored.set(key, { table, key, value: encodeRow(write.table, write.row) });
    }
    this.state.install(decision.change, command.commandId);
    return { kind: 'applied', index };
  }

  /** Everything that an engine would hold, dead rows included. */
  loaded(): LoadedState {
    return { meta: this.state.meta, rows: [...this.#stored.values()] };
  }
}
