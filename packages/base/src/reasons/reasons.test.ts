// Proves that the tables hold exactly the codes of engine §15, in the order of the specification
// where order has a meaning, each with its texts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionReasons } from './action-reasons.ts';
import { type ReasonSet, reasonCatalogue, reasonEntry } from './catalogue.ts';
import { unmetReasons } from './unmet-reasons.ts';

// Written out by hand from the specification.
const SPECIFIED: Readonly<Record<ReasonSet, string>> = {
  action: `phase1.idle phase1.speculative phase2.inversion phase3.excess phase3.release
    coordinator.cross_shard_drain`,
  unmet: `satisfied awaiting_drain acquisition_parked topology_unsatisfiable no_matching_supply
    min_unit_too_large no_stable_supply bootstrap_refused quota_exhausted spread_unsatisfiable
    preemption_exhausted priority_starved configure_failing type_failing`,
  candidate: `requirement_mismatch min_unit_too_small no_contribution wrong_domain spread_skew
    claimed_higher_precedence claimed_equal_precedence infinite_cost interruption_risk costlier
    idle_preferred not_acquirable_state action_pending quota_exhausted transfer_frozen
    transfer_reserved not_owned victim_priority_not_lower victim_claimed_higher victim_own_cluster
    victim_not_configured victim_taken victim_score_lower preemptor_parked preemptor_no_domain
    kept_claimed first_rollup_missing hold_not_expired hold_forever configure_failing
    type_failing`,
  execute_outcome: `success ctx_canceled fenced no_session transition_raced_to_idle
    transition_error blob_error provider_error stale_state inventory_miss missing_profile other`,
  skipped: 'suppressed dryrun',
  deferred: `deferred_reclaim_cap deferred_max_actions deduped_pending deduped_state
    dropped_queue_full`,
  drain_operator: `empty deadline forbidden node_not_found grace_expired not_negotiated
    no_session`,
  machine_refusal: 'price interruption_probability structural duplicate_id',
  rollup_refusal: `malformed bad_bucket bad_quantity bad_operator cluster_mismatch too_large
    rollup_quarantined`,
  request_refusal: 'unsupported_operator bad_quantity bad_penalty foreign_node',
  session_refusal: `hello_missing identity_rejected session_replaced session_limit
    outbox_stalled`,
  instruction: `duplicate_redelivery stale_term unknown_payload not_implemented actuation_paused
    dry_run no_eligible_machines unknown_transfer not_idle provider_unreachable`,
  transfer_abort: `ack_timeout donor_rejected donor_stale recipient_stale recipient_removed
    benefit_too_small provider_recovering override_limit`,
  counterfactual: `price_headroom relax_requirement relax_domain raise_priority raise_quota
    wait_for_drain wait_for_create`,
};

test('each set holds the specified codes, in order, with texts', () => {
  for (const [set, codes] of Object.entries(SPECIFIED)) {
    const table = reasonCatalogue[set as ReasonSet];
    assert.deepEqual(Object.keys(table), codes.split(/\s+/), set);
    for (const [code, entry] of Object.entries(table)) {
      assert.match(entry.meaning, /^[A-Z].{8,}\.$/, code);
      assert.match(entry.action, /^[A-Z].{3,}\.$/, code);
    }
  }
  assert.deepEqual(Object.keys(reasonCatalogue), Object.keys(SPECIFIED));
});

test('each action reason belongs to its kind of action', () => {
  const kinds = Object.entries(actionReasons).map(([code, entry]) => [code, entry.actionKind]);
  assert.deepEqual(kinds, [
    ['phase1.idle', 'Bootstrap'],
    ['phase1.speculative', 'Provision'],
    ['phase2.inversion', 'Preempt'],
    ['phase3.excess', 'Reclaim'],
    ['phase3.release', 'Delete'],
    ['coordinator.cross_shard_drain', 'Preempt'],
  ]);
});

test('each unmet code has the enum value that accompanies it', () => {
  const others = {
    satisfied: 'UNSPECIFIED',
    acquisition_parked: 'TOPOLOGY_UNSATISFIABLE',
    topology_unsatisfiable: 'TOPOLOGY_UNSATISFIABLE',
    no_matching_supply: 'NO_MATCHING_SUPPLY',
    preemption_exhausted: 'PREEMPTION_EXHAUSTED',
  };
  for (const [code, entry] of Object.entries(unmetReasons)) {
    const expected = new Map(Object.entries(others)).get(code) ?? 'PRIORITY_STARVED';
    assert.equal(entry.unmetReason, expected, code);
  }
});

test('an unknown code has no entry, whatever its name', () => {
  assert.equal(reasonEntry('unmet', 'priority_starved'), unmetReasons.priority_starved);
  for (const code of ['', 'toString', '__proto__', 'no_such_code']) {
    assert.equal(reasonEntry('unmet', code), undefined, code);
  }
});
