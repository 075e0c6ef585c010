// Tables as kubectl prints them: columns of the kinds that people look at, printer columns of custom
// resources, name and creation time for everything else.

import { isObject } from '../../api/answer.ts';
import { asList, asNumber, asObj, asText, at, metaOf, type Obj, textAt, textMap } from './json.ts';
import type { ResourceType } from './resources.ts';

export type IncludeObject = 'None' | 'Metadata' | 'Object';

interface Column {
  readonly name: string;
  readonly type?: string;
  /** Above zero: only with `-o wide`. */
  readonly priority?: number;
  readonly cell: (object: Obj, nowMs: number) => unknown;
}

export function tableOf(
  type: ResourceType,
  objects: readonly Obj[],
  options: { readonly nowMs: number; readonly include: IncludeObject; readonly metadata: Obj },
): Obj {
  const columns = columnsOf(type);
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: options.metadata,
    columnDefinitions: columns.map(({ name, type: cellType = 'string', priority = 0 }) => ({
      name,
      type: cellType,
      format: name === 'Name' ? 'name' : '',
      description: name,
      priority,
    })),
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, options.nowMs)),
      object: options.include === 'None' ? null : included(object, options.include),
    })),
  };
}

export function partialMetadata(object: Obj): Obj {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: metaOf(object) };
}

function included(object: Obj, include: IncludeObject): Obj {
  return include === 'Object' ? object : partialMetadata(object);
}

const NAME: Column = { name: 'Name', cell: (object) => textAt(object, 'metadata', 'name') };
const AGE: Column = {
  name: 'Age',
  cell: (object, nowMs) => ageOf(metaOf(object)['creationTimestamp'], nowMs),
};
const CREATED: Column = {
  name: 'Created At',
  type: 'date',
  cell: (object) => metaOf(object)['creationTimestamp'] ?? '<unknown>',
};

function text(name: string, cell: (object: Obj, nowMs: number) => unknown, priority = 0): Column {
  return {
    name,
    cell: (object, nowMs) => String((cell(object, nowMs) as string | undefined) ?? ''),
    priority,
  };
}

function count(name: string, ...path: string[]): Column {
  return { name, type: 'integer', cell: (object) => asNumber(at(object, ...path)) ?? 0 };
}

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  '/pods': [
    NAME,
    text('Ready', podReady),
    text('Status', podStatus),
    text('Restarts', (pod) => String(restartsOf(pod))),
    AGE,
    text('IP', (pod) => textAt(pod, 'status', 'podIP') || '<none>', 1),
    text('Node', (pod) => textAt(pod, 'spec', 'nodeName') || '<none>', 1),
    text('Nominated Node', (pod) => textAt(pod, 'status', 'nominatedNodeName') || '<none>', 1),
    text('Readiness Gates', () => '<none>', 1),
  ],
  '/nodes': [
    NAME,
    text('Status', nodeStatus),
    text('Roles', nodeRoles),
    AGE,
    text('Version', (node) => textAt(node, 'status', 'nodeInfo', 'kubeletVersion')),
    text('Internal-IP', (node) => addressOf(node, 'InternalIP'), 1),
    text('External-IP', (node) => addressOf(node, 'ExternalIP'), 1),
    text('OS-Image', (node) => textAt(node, 'status', 'nodeInfo', 'osImage') || '<unknown>', 1),
    text(
      'Kernel-Version',
      (node) => textAt(node, 'status', 'nodeInfo', 'kernelVersion') || '<unknown>',
      1,
    ),
    text(
      'Container-Runtime',
      (node) => textAt(node, 'status', 'nodeInfo', 'containerRuntimeVersion') || '<unknown>',
      1,
    ),
  ],
  '/events': [
    text('Last Seen', lastSeen),
    text('Type', (event) => textAt(event, 'type')),
    text('Reason', (event) => textAt(event, 'reason')),
    text(
      'Object',
      (event) =>
        `${textAt(event, 'involvedObject', 'kind').toLowerCase()}/${textAt(event, 'involvedObject', 'name')}`,
    ),
    text('Subobject', (event) => textAt(event, 'involvedObject', 'fieldPath'), 1),
    text(
      'Source',
      (event) => textAt(event, 'source', 'component') || textAt(event, 'reportingComponent'),
      1,
    ),
    text('Message', (event) => textAt(event, 'message').trim()),
    text(
      'First Seen',
      (event, nowMs) => ageOf(event['firstTimestamp'] ?? event['eventTime'], nowMs),
      1,
    ),
    text('Count', (event) => String(asNumber(event['count']) ?? 1), 1),
    { name: 'Name', cell: (event) => textAt(event, 'metadata', 'name'), priority: 1 },
  ],
  '/namespaces': [NAME, text('Status', (namespace) => textAt(namespace, 'status', 'phase')), AGE],
  '/secrets': [NAME, text('Type', (secret) => textAt(secret, 'type')), sizeOf('Data', 'data'), AGE],
  '/configmaps': [NAME, sizeOf('Data', 'data'), AGE],
  '/serviceaccounts': [
    NAME,
    { name: 'Secrets', type: 'string', cell: (account) => asList(account['secrets']).length },
    AGE,
  ],
  'apps/deployments': [
    NAME,
    text(
      'Ready',
      (one) =>
        `${asNumber(at(one, 'status', 'readyReplicas')) ?? 0}/${asNumber(at(one, 'spec', 'replicas')) ?? 1}`,
    ),
    count('Up-to-date', 'status', 'updatedReplicas'),
    count('Available', 'status', 'availableReplicas'),
    AGE,
  ],
  'apps/replicasets': [
    NAME,
    count('Desired', 'spec', 'replicas'),
    count('Current', 'status', 'replicas'),
    count('Ready', 'status', 'readyReplicas'),
    AGE,
  ],
  'apps/statefulsets': [
    NAME,
    text(
      'Ready',
      (one) =>
        `${asNumber(at(one, 'status', 'readyReplicas')) ?? 0}/${asNumber(at(one, 'spec', 'replicas')) ?? 1}`,
    ),
    AGE,
  ],
  'policy/poddisruptionbudgets': [
    NAME,
    text('Min Available', (one) => shownOr(at(one, 'spec', 'minAvailable'), 'N/A')),
    text('Max Unavailable', (one) => shownOr(at(one, 'spec', 'maxUnavailable'), 'N/A')),
    count('Allowed Disruptions', 'status', 'disruptionsAllowed'),
    AGE,
  ],
  'coordination.k8s.io/leases': [
    NAME,
    text('Holder', (lease) => textAt(lease, 'spec', 'holderIdentity')),
    AGE,
  ],
  'scheduling.k8s.io/priorityclasses': [
    NAME,
    { name: 'Value', type: 'integer', cell: (one) => asNumber(one['value']) ?? 0 },
    { name: 'Global-Default', type: 'boolean', cell: (one) => one['globalDefault'] === true },
    AGE,
    text('PreemptionPolicy', (one) => asText(one['preemptionPolicy'])),
  ],
};

function columnsOf(type: ResourceType): readonly Column[] {
  if (type.custom === undefined) return COLUMNS[`${type.group}/${type.plural}`] ?? [NAME, CREATED];
  const printed = type.custom.printerColumns.map(
    ({ name, type: cellType, priority, jsonPath }): Column => ({
      name,
      type: cellType,
      priority,
      cell: (object, nowMs) => printedCell(pathValue(object, jsonPath), cellType, nowMs),
    }),
  );
  return printed.length === 0 ? [NAME, AGE] : [NAME, ...printed];
}

function printedCell(value: unknown, type: string, nowMs: number): unknown {
  if (value === undefined || value === null) return type === 'date' ? '<unknown>' : null;
  if (type === 'date') return ageOf(value, nowMs);
  if (type === 'integer' || type === 'number' || type === 'boolean') return value;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A JSON path of field names, indices and one kind of filter: `[?(@.type=="Ready")]`. */
function pathValue(object: unknown, jsonPath: string): unknown {
  let here: unknown = object;
  const step = /\.([\w-]+)|\[(\d+)\]|\['([^']+)'\]|\[\?\(@\.(\w+)\s*==\s*["']([^"']*)["']\)\]/g;
  for (const [, field, index, quoted, filterKey, filterValue] of jsonPath.matchAll(step)) {
    if (filterKey !== undefined)
      here = asList(here).find((one) => at(one, filterKey) === filterValue);
    else if (index !== undefined) here = asList(here)[Number(index)];
    else here = isObject(here) ? here[field ?? quoted ?? ''] : undefined;
  }
  return here;
}

function shownOr(value: unknown, absent: string): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : absent;
}

function sizeOf(name: string, field: string): Column {
  return { name, type: 'string', cell: (object) => Object.keys(asObj(object[field])).length };
}

function podReady(pod: Obj): string {
  const statuses = asList(at(pod, 'status', 'containerStatuses'));
  const ready = statuses.filter((one) => at(one, 'ready') === true).length;
  return `${ready}/${asList(at(pod, 'spec', 'containers')).length}`;
}

function podStatus(pod: Obj): string {
  if (metaOf(pod)['deletionTimestamp'] !== undefined) return 'Terminating';
  const conditions = asList(at(pod, 'status', 'conditions'));
  const gated = conditions.find(
    (one) => at(one, 'type') === 'PodScheduled' && at(one, 'reason') === 'SchedulingGated',
  );
  if (gated !== undefined) return 'SchedulingGated';
  for (const one of asList(at(pod, 'status', 'containerStatuses'))) {
    const reason =
      textAt(one, 'state', 'waiting', 'reason') || textAt(one, 'state', 'terminated', 'reason');
    if (reason !== '') return reason;
  }
  const phase = textAt(pod, 'status', 'reason') || textAt(pod, 'status', 'phase');
  return phase === 'Succeeded' ? 'Completed' : phase;
}

function restartsOf(pod: Obj): number {
  return asList(at(pod, 'status', 'containerStatuses')).reduce<number>(
    (sum, one) => sum + (asNumber(at(one, 'restartCount')) ?? 0),
    0,
  );
}

function nodeStatus(node: Obj): string {
  const ready = asList(at(node, 'status', 'conditions')).find((one) => at(one, 'type') === 'Ready');
  let status = 'Unknown';
  if (ready !== undefined) status = at(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return at(node, 'spec', 'unschedulable') === true ? `${status},SchedulingDisabled` : status;
}

function nodeRoles(node: Obj): string {
  const prefix = 'node-role.kubernetes.io/';
  const roles = Object.keys(textMap(metaOf(node)['labels']))
    .filter((key) => key.startsWith(prefix))
    .map((key) => key.slice(prefix.length));
  return roles.toSorted((a, b) => (a < b ? -1 : 1)).join(',') || '<none>';
}

function addressOf(node: Obj, type: string): string {
  const found = asList(at(node, 'status', 'addresses')).find((one) => at(one, 'type') === type);
  return found === undefined ? '<none>' : textAt(found, 'address');
}

function lastSeen(event: Obj, nowMs: number): string {
  const time =
    at(event, 'series', 'lastObservedTime') ?? event['lastTimestamp'] ?? event['eventTime'];
  return ageOf(time ?? metaOf(event)['creationTimestamp'], nowMs);
}

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
const YEAR = 365 * DAY;

/** As duration.HumanDuration: two units while the first is small. */
export function ageOf(time: unknown, nowMs: number): string {
  const thenMs = Date.parse(asText(time));
  if (Number.isNaN(thenMs)) return '<unknown>';
  const s = Math.floor((nowMs - thenMs) / 1000);
  const two = (large: number, largeName: string, small: number, smallName: string): string => {
    const rest = Math.floor((s % large) / small);
    return `${Math.floor(s / large)}${largeName}${rest === 0 ? '' : `${rest}${smallName}`}`;
  };
  if (s < -1) return '<invalid>';
  if (s < 0) return '0s';
  if (s < 2 * MINUTE) return `${s}s`;
  if (s < 10 * MINUTE) return two(MINUTE, 'm', 1, 's');
  if (s < 3 * HOUR) return `${Math.floor(s / MINUTE)}m`;
  if (s < 8 * HOUR) return two(HOUR, 'h', MINUTE, 'm');
  if (s < 2 * DAY) return `${Math.floor(s / HOUR)}h`;
  if (s < 8 * DAY) return two(DAY, 'd', HOUR, 'h');
  if (s < 2 * YEAR) return `${Math.floor(s / DAY)}d`;
  if (s < 8 * YEAR) return two(YEAR, 'y', DAY, 'd');
  return `${Math.floor(s / YEAR)}y`;
}
