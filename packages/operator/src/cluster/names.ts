// Names of the objects that the operator writes, and of the machine behind a Node. Machine ids and hint
// keys are the provider's and the shard's texts; Kubernetes' names are narrower, so that what does not
// fit is hashed, always the same way.

import { createHash } from 'node:crypto';

const LABEL_VALUE = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;
const MAX_NAME_LENGTH = 253;
const NODE_PREFIX = 'un-';
const HINT_PREFIX = 'ac-';

/** Value of the node label `bigfleet.lucy.sh/machine-id` (kubernetes §4.1). */
export function machineIdLabel(machineId: string): string {
  return LABEL_VALUE.test(machineId) ? machineId : `h-${sha256(machineId, 32)}`;
}

/** Kubernetes §4.2. */
export function upcomingNodeName(machineId: string): string {
  const plain = NODE_PREFIX + machineId;
  if (plain.length <= MAX_NAME_LENGTH && SUBDOMAIN.test(plain)) return plain;
  const readable = machineId
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  return `${NODE_PREFIX}${readable === '' ? 'x' : readable}-${sha256(machineId, 16)}`;
}

/** Kubernetes §4.4. */
export function availableCapacityName(supersedesKey: string): string {
  return HINT_PREFIX + sha256(supersedesKey, 32);
}

/** Objects of other names are not ours to delete. */
export function isUpcomingNodeName(name: string): boolean {
  return name.startsWith(NODE_PREFIX);
}

export function isAvailableCapacityName(name: string): boolean {
  return /^ac-[0-9a-f]{32}$/.test(name);
}

function sha256(text: string, hexLength: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, hexLength);
}
