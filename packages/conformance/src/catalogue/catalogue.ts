// The frozen catalogue: 93 behaviours in 11 areas (conformance §5). Append-only: an id is never
// reused or renumbered and a title never changes, because reports of other people name them. A
// behaviour is retired by `deprecated`. The gaps (B102, B304, all of B6xx) stay unused.
// catalogue.test.ts holds the digest of these lines: an edit of an old entry fails there.

import { assert } from '@bigfleet/base';
import type { Area, Behaviour, Capability, Profile } from './behaviour.ts';

type Traits = Partial<Pick<Behaviour, 'profiles' | 'capability' | 'phase' | 'blackBox'>>;
type Row = readonly [id: string, title: string, traits?: Traits];

const CLOUD: readonly Profile[] = ['core', 'cloud'];
const SPOT: readonly Profile[] = ['core', 'spot'];
const cursor: Traits = { capability: 'SinceRevision' };
const cloudDelete: Traits = { profiles: CLOUD, capability: 'Delete' };
const fault: Traits = { profiles: ['fault'], capability: 'Fault', phase: 4 };
const durable: Traits = { profiles: ['durable'], capability: 'Durable', phase: 4, blackBox: false };
const scale: Traits = { profiles: ['scale'], capability: 'Scale', phase: 5 };

function area(name: Area, rows: readonly Row[], common: Traits = {}): readonly Behaviour[] {
  return rows.map(([id, title, traits]) => ({
    id,
    area: name,
    title,
    profiles: ['core'] satisfies Profile[],
    capability: '' satisfies Capability,
    phase: 2,
    blackBox: true,
    ...common,
    ...traits,
  }));
}

export const behaviours: readonly Behaviour[] = [
  ...area('Lifecycle', [
    ['B101', 'Four full Idle→Configured→Idle rounds leave no residue'],
    ['B103', 'Configure shows only CONFIGURING on the way'],
    ['B104', 'Drain shows only DRAINING'],
    ['B105', 'No stable state is skipped over Create, Configure, Drain'],
    ['B106', 'cluster set iff bound'],
    ['B107', 'Host by state at each rest'],
    ['B108', 'No spontaneous re-transition'],
    ['B109', 'Delete shows only DELETING', cloudDelete],
  ]),
  ...area('Transition/Errors', [
    ['B201', 'Create on CONFIGURED rejected, untouched'],
    ['B202', 'Configure on SPECULATIVE rejected'],
    ['B203', 'Drain on IDLE never FAILED_PRECONDITION, stays IDLE'],
    ['B204', 'Delete out of position harmless', { profiles: CLOUD }],
    ['B205', 'At-target calls are no-ops'],
    ['B206', 'Replay returns the original operation_id'],
    ['B207', 'Unknown id ⇒ NOT_FOUND, nothing created'],
    ['B208', 'Empty id ⇒ INVALID_ARGUMENT'],
    ['B209', 'Big metadata: echo or INVALID_ARGUMENT'],
    ['B210', 'Negative grace handled cleanly'],
    ['B211', 'Malformed token is an argument error'],
    ['B212', 'int64-max token sets the mark'],
    ['B213', 'Oversized bootstrap_blob'],
    ['B214', 'New cycle ⇒ new operation_id'],
    ['B215', 'Unknown Get/Delete', { profiles: CLOUD }],
  ]),
  ...area('Fencing', [
    ['B301', 'Fence runs before existence'],
    ['B302', 'Marks isolated per (shard, machine)'],
    ['B303', 'Lexicographic order on one pair'],
    ['B305', 'Reads never fence'],
    ['B306', 'Fence before replay, Configure'],
    ['B307', 'Fence before replay, Drain'],
    ['B308', 'Empty token bypasses'],
    ['B309', 'Monotonic session accepted on all RPCs'],
    ['B310', 'New epoch fences the old one'],
    ['B311', 'Mark advances though the op is rejected'],
    ['B312', 'Random stream equals the oracle'],
  ]),
  ...area('Concurrency', [
    ['B401', 'Parallel Creates collapse'],
    ['B402', 'Parallel Configures collapse'],
    ['B403', 'Parallel Drains collapse'],
    ['B404', 'Conflicting race serialises'],
    ['B405', 'Live epoch beats zombie under concurrency'],
    ['B406', 'Key is provider-wide, not per connection'],
    ['B407', 'No cross-machine bleed'],
    ['B408', 'No torn ack snapshot'],
    ['B409', 'Parallel Deletes collapse', cloudDelete],
  ]),
  ...area('Metadata', [
    ['B501', 'Hostile 55-key map verbatim'],
    ['B502', 'Cleared on Drain, cleanly replaced'],
    ['B503', 'Oversized map never truncated'],
    ['B504', 'Visible while CONFIGURING'],
    ['B505', 'No aliasing'],
  ]),
  ...area(
    'Timeouts/Failure',
    [
      ['B701', 'Configure error ⇒ FAILED'],
      ['B702', 'Create error ⇒ FAILED'],
      ['B703', 'Timeout ⇒ FAILED, no revert'],
      ['B704', 'Late success discarded'],
      ['B705', 'FAILED is terminal'],
      ['B706', 'Failing drain never sticks'],
      ['B707', 'FAILED stays readable'],
      // Proves what the kit does with its readiness check, which is behind the wire (provider-contract §9).
      ['B708', 'Readiness gate', { blackBox: false }],
    ],
    fault,
  ),
  ...area('Field shape', [
    ['B801', 'State and instance_type top level'],
    ['B802', 'Cost bounds', { profiles: SPOT }],
    ['B803', 'Host and cluster by state'],
    ['B804', 'Density computable'],
    ['B805', 'Stable HostRef.provider'],
    ['B806', 'Zone and capacity with a host'],
    ['B807', 'Delete clears', cloudDelete],
  ]),
  ...area('List', [
    ['B901', 'Filter and exact union'],
    ['B902', 'Cap is a ceiling'],
    ['B903', 'Advance and delta', cursor],
    ['B904', 'Quiet delta empty', cursor],
    ['B905', 'Monotonic over many', cursor],
    ['B906', 'Garbage cursor ⇒ full list'],
    ['B907', 'Paging complete', cursor],
    ['B908', 'Idle ticks do not bump', cursor],
    ['B909', 'Opaque round trip, corruption safe', cursor],
  ]),
  ...area(
    'Durability',
    [
      ['B1001', 'Marks survive'],
      ['B1002', 'Idempotency survives'],
      ['B1003', 'Binding survives'],
      ['B1004', 'Inventory identical'],
      ['B1005', 'Fresh ids, usable cursor'],
      ['B1006', 'Interrupted transition recovered'],
      ['B1007', 'No global mark after restart'],
    ],
    durable,
  ),
  ...area(
    'Scale',
    [
      ['B1101', 'Full List complete and in shape'],
      ['B1102', 'Exact delta'],
      ['B1103', 'Paging whole fleet'],
      ['B1104', 'Churn leaks nothing'],
      ['B1105', 'Count conserved'],
      ['B1106', 'Latency budgets'],
      ['B1107', 'Full List budget'],
      ['B1108', 'Parallel throughput'],
      ['B1109', 'No drift'],
    ],
    scale,
  ),
  ...area('Property', [
    ['B1201', 'Fence oracle'],
    ['B1202', 'Metadata round trip'],
    ['B1203', 'Lifecycle model'],
    ['B1204', 'FAILED_PRECONDITION only for fencing'],
    ['B1205', 'Code discipline on bad shapes'],
  ]),
];

const byId: ReadonlyMap<string, Behaviour> = new Map(
  behaviours.map((behaviour) => [behaviour.id, behaviour]),
);

export function findBehaviour(id: string): Behaviour | undefined {
  return byId.get(id);
}

/**
 * The entry that a test of ours declares. Coverage is derived from these, so an unknown id must stop
 * the run instead of covering nothing.
 */
export function behaviourOf(id: string): Behaviour {
  const behaviour = byId.get(id);
  assert(behaviour !== undefined, 'no behaviour of this id in the catalogue', { id });
  return behaviour;
}

/** First line of a test's output; readers of logs and reports find a behaviour's runs by it. */
export function markerOf(id: string): string {
  return `BEHAVIOR ${behaviourOf(id).id}`;
}
