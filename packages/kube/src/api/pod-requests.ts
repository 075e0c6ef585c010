// What a Pod asks of a node, by kube-scheduler's own arithmetic (kubernetes §5.3): a machine bought for
// less would leave the Pod Pending, one bought for the sum of init and main containers would be paid for
// and never used.

import { compareText, parseQuantity, printQuantity, type Quantity } from '@bigfleet/base';
import type { Container, Pod, ResourceList, ResourceRequirements } from './objects.ts';

type Amounts = Map<string, Quantity>;

/** By resource name, sorted, without zeros; a Pod without requests gives an empty vector. */
export function effectiveRequests({ spec }: Pick<Pod, 'spec'>): Record<string, string> {
  const running: Amounts = new Map();
  for (const container of spec.containers) add(running, requestsOf(container.resources));
  const initPeak: Amounts = new Map();
  const sidecars: Amounts = new Map();
  for (const container of spec.initContainers ?? []) {
    const requests = requestsOf(container.resources);
    if (isSidecar(container)) {
      add(sidecars, requests);
      add(running, requests);
      raise(initPeak, sidecars);
    } else {
      const stage = new Map(sidecars);
      add(stage, requests);
      raise(initPeak, stage);
    }
  }
  raise(running, initPeak);
  // Requests of the Pod as a whole stand in place of its containers', for the resources they name.
  for (const [name, quantity] of amountsOf(spec.resources?.requests)) running.set(name, quantity);
  add(running, amountsOf(spec.overhead));
  return printed(running);
}

function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always';
}

/** A limit without a request is a request: GPUs are usually given so. */
function requestsOf(resources: ResourceRequirements | undefined): Amounts {
  const requests = amountsOf(resources?.limits);
  for (const [name, quantity] of amountsOf(resources?.requests)) requests.set(name, quantity);
  return requests;
}

function amountsOf(list: ResourceList | undefined): Amounts {
  const amounts: Amounts = new Map();
  for (const [name, raw] of Object.entries(list ?? {})) {
    // The API server has validated every quantity of a Pod.
    const parsed = parseQuantity(String(raw));
    if (parsed.ok) amounts.set(name, parsed.value);
  }
  return amounts;
}

function add(sum: Amounts, more: Amounts): void {
  for (const [name, quantity] of more) {
    const before = sum.get(name);
    const isFirst = before === undefined || before.nanos === 0n;
    sum.set(name, isFirst ? quantity : { ...before, nanos: before.nanos + quantity.nanos });
  }
}

function raise(least: Amounts, other: Amounts): void {
  for (const [name, quantity] of other) {
    const before = least.get(name);
    if (before === undefined || before.nanos < quantity.nanos) least.set(name, quantity);
  }
}

function printed(amounts: Amounts): Record<string, string> {
  const entries = [...amounts]
    .filter(([, { nanos }]) => nanos > 0n)
    .sort(([a], [b]) => compareText(a, b));
  return Object.fromEntries(entries.map(([name, quantity]) => [name, printQuantity(quantity)]));
}
