// B103–B105, B109: what a machine shows on its way. A fast provider may show nothing in between;
// what it does show must be the state that the contract names for that transition.

import { type Check, type CheckContext, defineCheck } from '../../harness/check.ts';
import type { Ack, Answer } from '../../harness/endpoint.ts';
import { acknowledged, ensure } from '../../harness/expect.ts';
import { isStable, type State } from '../../harness/machine.ts';
import { needsDelete } from '../../harness/probe.ts';
import { expectState } from '../../harness/reach.ts';
import { distinctInOrder, watch } from '../../harness/trace.ts';
import {
  onConfigured,
  onIdle,
  onSlot,
  standardBlob,
  standardCluster,
  walkToIdle,
} from '../../harness/walk.ts';

interface Step {
  readonly name: string;
  readonly machineId: string;
  readonly until: State;
  readonly call: () => Promise<Answer<Ack>>;
}

const legalPairs: ReadonlySet<string> = new Set([
  'SPECULATIVE→CREATING',
  'SPECULATIVE→IDLE',
  'CREATING→IDLE',
  'IDLE→CONFIGURING',
  'IDLE→CONFIGURED',
  'CONFIGURING→CONFIGURED',
  'CONFIGURED→DRAINING',
  'CONFIGURED→IDLE',
  'DRAINING→IDLE',
]);

async function configureShowsConfiguring(context: CheckContext, machineId: string): Promise<void> {
  const trace = await traceOf(context, configureStep(context, machineId));
  onlyTransitional(trace, 'CONFIGURING', `Configure ${machineId}`);
  await expectState(context, machineId, 'CONFIGURED');
}

async function drainShowsDraining(context: CheckContext, machineId: string): Promise<void> {
  const trace = await traceOf(context, drainStep(context, machineId));
  onlyTransitional(trace, 'DRAINING', `Drain ${machineId}`);
  await expectState(context, machineId, 'IDLE');
}

async function nothingSkipped(context: CheckContext, machineId: string): Promise<void> {
  await expectState(context, machineId, 'SPECULATIVE');
  const states: State[] = ['SPECULATIVE'];
  const create = () => context.endpoint.create({ machineId });
  for (const step of [
    { name: 'Create', machineId, until: 'IDLE', call: create } as const,
    configureStep(context, machineId),
    drainStep(context, machineId),
  ]) {
    for (const state of await traceOf(context, step)) {
      if (states.at(-1) !== state) states.push(state);
    }
  }
  for (const [at, state] of states.entries()) {
    const before = states[at - 1];
    ensure(
      before === undefined || legalPairs.has(`${before}→${state}`),
      () => `${machineId}: ${before} → ${state} is no legal step; went ${states.join(' → ')}`,
    );
  }
}

async function deleteShowsDeleting(context: CheckContext): Promise<void> {
  needsDelete(context);
  const machineId = await walkToIdle(context);
  const call = () => context.endpoint.delete({ machineId });
  const step = { name: 'Delete', machineId, until: 'SPECULATIVE', call } as const;
  onlyTransitional(await traceOf(context, step), 'DELETING', `Delete ${machineId}`);
  const { host } = await expectState(context, machineId, 'SPECULATIVE');
  ensure(
    host === undefined,
    () => `${machineId}: expected no host after Delete, is ${host?.provider}/${host?.ref}`,
  );
}

function configureStep({ endpoint }: CheckContext, machineId: string): Step {
  const call = { machineId, clusterId: standardCluster, blob: standardBlob };
  return {
    name: 'Configure',
    machineId,
    until: 'CONFIGURED',
    call: () => endpoint.configure(call),
  };
}

function drainStep({ endpoint }: CheckContext, machineId: string): Step {
  const call = { machineId, graceSeconds: 5n };
  return { name: 'Drain', machineId, until: 'IDLE', call: () => endpoint.drain(call) };
}

async function traceOf(context: CheckContext, step: Step): Promise<readonly State[]> {
  const { name, machineId, until } = step;
  const ack = acknowledged(await step.call(), `${name} ${machineId}`);
  return distinctInOrder(await watch(context, { machineId, until, ack }));
}

function onlyTransitional(trace: readonly State[], allowed: State, what: string): void {
  const wrong = trace.find((state) => !isStable(state) && state !== allowed);
  ensure(
    wrong === undefined,
    () => `${what}: expected only ${allowed} on the way, saw ${trace.join(' → ')}`,
  );
}

export const traceChecks: readonly Check[] = [
  defineCheck('B103', 'Six calls', onIdle(configureShowsConfiguring)),
  defineCheck('B104', 'Six calls', onConfigured(drainShowsDraining)),
  defineCheck('B105', 'Six calls', onSlot(nothingSkipped)),
  defineCheck('B109', 'Six calls', deleteShowsDeleting),
];
