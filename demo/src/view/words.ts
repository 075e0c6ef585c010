// The words that the plain and the terminal view share.

import type { Decision } from '../feed/decisions.ts';
import type { Transfer } from '../fleet/watch-transfers.ts';
import type { ClusterScene, ProviderScene, Scene, ShardScene } from './scene.ts';

export function clock(elapsedMs: number): string {
  const seconds = Math.floor(elapsedMs / 1_000);
  const pad = (value: number): string => String(value).padStart(2, '0');
  return `${pad(Math.floor(seconds / 60))}:${pad(seconds % 60)}`;
}

/** States with machines, in the order of a machine's life. */
export function statesText({ machinesByState }: Pick<Scene, 'machinesByState'>): string {
  const present = Object.entries(machinesByState).filter(([, count]) => count > 0);
  return present.map(([state, count]) => `${state} ${count}`).join('  ');
}

/** Who owns how many. */
export function ownerText({ name, machinesByState, isServing }: ShardScene): string {
  const total = Object.values(machinesByState).reduce((sum, count) => sum + count, 0);
  return isServing ? `${name} owns ${total}` : `${name} is down, owned ${total}`;
}

export function providerText({ name, count, servingCount, idleCount }: ProviderScene): string {
  return `${name}: ${servingCount} serve, ${idleCount} idle of ${count}`;
}

/** Pods that run of all, requests that are acknowledged of all, nodes, and machines on their way. */
export function clusterText(cluster: ClusterScene): string {
  const { runningCount, pendingCount, requestCount, acknowledgedCount, nodeCount } = cluster;
  const of = (part: number, whole: number): string => `${part}/${whole}`.padStart(5);
  const upcoming = cluster.upcomingCount === 0 ? '' : ` +${cluster.upcomingCount}`;
  return (
    `${of(runningCount, runningCount + pendingCount)} Pods run  ` +
    `${of(acknowledgedCount, requestCount)} acknowledged  ` +
    `${String(nodeCount).padStart(2)}${upcoming} nodes`
  );
}

export function transferText(transfer: Transfer): string {
  return `transfer ${transfer.id}: ${movedText(transfer)}`;
}

/** For lines that are cut at the end: how far it is comes before which one it is. */
export function shortTransferText(transfer: Transfer): string {
  return `${movedText(transfer)}  transfer ${transfer.id}`;
}

function movedText({ from, to, phase, machineCount }: Transfer): string {
  const count = machineCount === 0 ? '' : `${machineCount} `;
  const what = `${count}${machineCount === 1 ? 'machine' : 'machines'}`;
  return `${what} from ${from} to ${to}  ${phase}`;
}

export function dollarsText(dollarsPerHour: number): string {
  return `$${dollarsPerHour.toFixed(2)}/h`;
}

export function decisionText(decision: Decision): string {
  const { cycle, kind, machineId, dollarsPerHour, reason } = decision;
  const what = `${kind} ${machineId}${forClusterText(decision)}`;
  return `cycle ${cycle}  ${what}  ${dollarsText(dollarsPerHour)}  ${reason}`;
}

/** For lines that are cut at the end: why comes before which machine. */
export function shortDecisionText(decision: Decision): string {
  const { cycle, kind, machineId, dollarsPerHour, reason } = decision;
  const what = `${kind}${forClusterText(decision)} ${dollarsText(dollarsPerHour)}`;
  return `cycle ${cycle} ${what}  ${reason}  ${machineId}`;
}

function forClusterText({ kind, cluster }: Decision): string {
  if (cluster === '') return '';
  return kind === 'Bootstrap' || kind === 'Provision' ? ` for ${cluster}` : ` of ${cluster}`;
}
