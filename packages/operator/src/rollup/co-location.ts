// The gang of a request: an opaque digest over namespace, topology key and label selector. Only an
// explicit co-location term makes a group. It once came from ownerReferences, which name the pod
// itself: every request was its own group, and roll-ups grew to one need per pod.
//
// The namespace is part of it, because pod affinity selects within the pod's own: without it two
// tenants that both say `app: db` would be forced onto one rack.

import { createHash } from 'node:crypto';
import { compareText } from '@bigfleet/base';
import type { CoLocation, CoLocationSelector } from '@bigfleet/kube';

const DIGEST_HEX_LENGTH = 32;

/** Key, operator, sorted values: what an expression says, in one spelling. */
type Expression = readonly [key: string, operator: string, values: readonly string[]];

/** Stored per machine and compared on the shard's hot path, hence a bounded digest. */
export function groupOf(namespace: string, { topologyKey, labelSelector }: CoLocation): string {
  const text = JSON.stringify([namespace, topologyKey, expressionsOf(labelSelector ?? {})]);
  const digest = createHash('sha256').update(text, 'utf8').digest('hex');
  return `g-${digest.slice(0, DIGEST_HEX_LENGTH)}`;
}

/** A label is an In with one value, so both spellings of a selector are one gang. */
function expressionsOf(selector: CoLocationSelector): Expression[] {
  const labels = Object.entries(selector.matchLabels ?? {}).map(
    ([key, value]): Expression => [key, 'In', [value]],
  );
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }): Expression => [key, operator, sortedSet(values)],
  );
  // By their text, which starts with the key: any total order gives one spelling per selector.
  const byText = new Map(
    [...labels, ...expressions].map((expression) => [JSON.stringify(expression), expression]),
  );
  return [...byText].sort(([a], [b]) => compareText(a, b)).map(([, expression]) => expression);
}

function sortedSet(values: readonly string[]): string[] {
  return [...new Set(values)].sort(compareText);
}
