// What kube-apiserver does to built-in kinds besides storing them: defaults, admission of priorities, and
// the validation that BigFleet's components can run into. Fields of no concern to them are stored as sent.

import { isObject } from '../../api/answer.ts';
import { asList, asNumber, asObj, asText, at, isEqual, type Obj, ownMeta, textAt } from './json.ts';
import { qualifiedNameProblems } from './metadata.ts';
import type { ResourceType } from './resources.ts';
import { type Cause, fieldError, forbidden } from './status.ts';
import type { Store } from './store.ts';

export interface StrategyContext {
  readonly store: Store;
  readonly nowText: string;
}

/** Fills in place what the server fills on create; throws where admission refuses. */
export function prepareCreate(type: ResourceType, object: Obj, context: StrategyContext): void {
  if (type.custom !== undefined || type.group === 'authorization.k8s.io') return;
  switch (type.plural) {
    case 'pods':
      preparePod(type, object, context);
      break;
    case 'nodes':
      prepareNode(object);
      break;
    case 'namespaces':
      object['spec'] = { finalizers: ['kubernetes'] };
      object['status'] = { phase: 'Active' };
      ownMeta(object)['labels'] = {
        ...asObj(at(object, 'metadata', 'labels')),
        'kubernetes.io/metadata.name': textAt(object, 'metadata', 'name'),
      };
      break;
    case 'priorityclasses':
      object['preemptionPolicy'] ??= 'PreemptLowerPriority';
      break;
    case 'secrets':
      prepareSecret(object);
      break;
    default:
  }
}

const CONTAINER_DEFAULTS = {
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
};
const POD_DEFAULTS = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  schedulerName: 'default-scheduler',
  enableServiceLinks: true,
};

function preparePod(type: ResourceType, pod: Obj, context: StrategyContext): void {
  const spec: Obj = { ...POD_DEFAULTS, ...asObj(pod['spec']) };
  spec['securityContext'] ??= {};
  for (const list of ['containers', 'initContainers']) {
    if (Array.isArray(spec[list])) spec[list] = asList(spec[list]).map(containerWithDefaults);
  }
  admitPriority(type, pod, { spec, context });
  pod['spec'] = spec;
  pod['status'] = { phase: 'Pending', qosClass: qosClassOf(spec) };
  if (asList(spec['schedulingGates']).length > 0) {
    asObj(pod['status'])['conditions'] = [
      {
        type: 'PodScheduled',
        status: 'False',
        lastProbeTime: null,
        lastTransitionTime: context.nowText,
        reason: 'SchedulingGated',
        message: 'Scheduling is blocked due to non-empty scheduling gates',
      },
    ];
  }
}

function containerWithDefaults(container: unknown): unknown {
  if (!isObject(container)) return container;
  const image = asText(container['image']);
  const isLatest = !/:[^/]+$/.test(image) || image.endsWith(':latest');
  const resources = { ...asObj(container['resources']) };
  const limits = asObj(resources['limits']);
  if (Object.keys(limits).length > 0) {
    resources['requests'] = { ...limits, ...asObj(resources['requests']) };
  }
  return {
    ...CONTAINER_DEFAULTS,
    imagePullPolicy: isLatest ? 'Always' : 'IfNotPresent',
    ...container,
    resources,
  };
}

function admitPriority(
  type: ResourceType,
  pod: Obj,
  { spec, context }: { readonly spec: Obj; readonly context: StrategyContext },
): void {
  const name = asText(spec['priorityClassName']);
  const podName = textAt(pod, 'metadata', 'name');
  let found: Obj | undefined;
  if (name === '') {
    for (const { object } of context.store.values('scheduling.k8s.io/priorityclasses')) {
      if (object['globalDefault'] === true) found = object;
    }
    if (found !== undefined) spec['priorityClassName'] = textAt(found, 'metadata', 'name');
  } else {
    found = context.store.get('scheduling.k8s.io/priorityclasses', name)?.object;
    if (found === undefined) {
      throw forbidden(type, podName, `no PriorityClass with name ${name} was found`);
    }
  }
  const computed = asNumber(found?.['value']) ?? 0;
  const given = asNumber(spec['priority']);
  if (given !== undefined && given !== computed) {
    throw forbidden(
      type,
      podName,
      `the integer value of priority (${given}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`,
    );
  }
  spec['priority'] = computed;
  spec['preemptionPolicy'] ??= asText(found?.['preemptionPolicy']) || 'PreemptLowerPriority';
}

function qosClassOf(spec: Obj): string {
  const containers = [...asList(spec['containers']), ...asList(spec['initContainers'])];
  let isGuaranteed = true;
  let isBestEffort = true;
  for (const container of containers) {
    const requests = asObj(at(container, 'resources', 'requests'));
    const limits = asObj(at(container, 'resources', 'limits'));
    for (const name of ['cpu', 'memory']) {
      if (requests[name] !== undefined || limits[name] !== undefined) isBestEffort = false;
      if (limits[name] === undefined || !isEqual(limits[name], requests[name]))
        isGuaranteed = false;
    }
  }
  if (isBestEffort) return 'BestEffort';
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

const NOT_READY_TAINT = 'node.kubernetes.io/not-ready';

/** TaintNodesByCondition: a new node takes no Pods until its controller has seen it Ready. */
function prepareNode(node: Obj): void {
  const spec = { ...asObj(node['spec']) };
  const taints = asList(spec['taints']);
  if (!taints.some((one) => at(one, 'key') === NOT_READY_TAINT)) {
    spec['taints'] = [...taints, { key: NOT_READY_TAINT, effect: 'NoSchedule' }];
  }
  node['spec'] = spec;
  node['status'] = {
    daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
    nodeInfo: {
      machineID: '',
      systemUUID: '',
      bootID: '',
      kernelVersion: '',
      osImage: '',
      containerRuntimeVersion: '',
      kubeletVersion: '',
      kubeProxyVersion: '',
      operatingSystem: '',
      architecture: '',
    },
    ...asObj(node['status']),
  };
}

function prepareSecret(secret: Obj): void {
  secret['type'] ??= 'Opaque';
  const plain = asObj(secret['stringData']);
  if (Object.keys(plain).length > 0) {
    const encoded = Object.entries(plain).map(([key, value]) => [key, btoa(asText(value))]);
    secret['data'] = { ...asObj(secret['data']), ...(Object.fromEntries(encoded) as Obj) };
  }
  delete secret['stringData'];
}

/** On update, in place: what a PUT of a client's view would lose or may not set. */
export function prepareUpdate(type: ResourceType, next: Obj): void {
  if (type.custom === undefined && type.plural === 'secrets') prepareSecret(next);
}

export function validateBuiltIn(
  type: ResourceType,
  object: Obj,
  before: Obj | undefined,
): readonly Cause[] {
  if (type.custom !== undefined) return [];
  switch (type.plural) {
    case 'pods':
      return before === undefined ? newPodProblems(object) : podUpdateProblems(object, before);
    case 'poddisruptionbudgets':
      return budgetProblems(object);
    case 'priorityclasses':
      return before === undefined || before['value'] === object['value']
        ? []
        : [fieldError.forbidden('value', 'may not be changed in an update.')];
    case 'nodes':
      return nodeProblems(object, before);
    case 'leases':
      return leaseProblems(object);
    default:
      return [];
  }
}

function newPodProblems(pod: Obj): Cause[] {
  const problems: Cause[] = [];
  const containers = asList(at(pod, 'spec', 'containers'));
  if (containers.length === 0) problems.push(fieldError.required('spec.containers'));
  containers.forEach((container, i) => {
    for (const field of ['name', 'image']) {
      if (textAt(container, field) === '') {
        problems.push(fieldError.required(`spec.containers[${i}].${field}`));
      }
    }
  });
  return problems;
}

const POD_UPDATE_MESSAGE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

function podUpdateProblems(pod: Obj, before: Obj): Cause[] {
  const gates = asList(at(before, 'spec', 'schedulingGates'));
  const added = asList(at(pod, 'spec', 'schedulingGates')).filter(
    (gate) => !gates.some((old) => isEqual(old, gate)),
  );
  if (added.length > 0) {
    const all = asList(at(pod, 'spec', 'schedulingGates'));
    return added.map((gate) =>
      fieldError.forbidden(
        `spec.schedulingGates[${all.indexOf(gate)}].name`,
        `only deletion is allowed, but found new scheduling gate '${textAt(gate, 'name')}'`,
      ),
    );
  }
  const isGated = gates.length > 0;
  if (isEqual(fixedPodSpec(pod, isGated), fixedPodSpec(before, isGated))) return [];
  return [fieldError.forbidden('spec', POD_UPDATE_MESSAGE)];
}

/** A Pod's spec without the fields that may change; a gated Pod may narrow where it can run. */
function fixedPodSpec(pod: Obj, isGated: boolean): Obj {
  const spec = { ...asObj(pod['spec']) };
  delete spec['activeDeadlineSeconds'];
  delete spec['tolerations'];
  delete spec['schedulingGates'];
  if (isGated) {
    delete spec['nodeSelector'];
    delete spec['affinity'];
  }
  for (const list of ['containers', 'initContainers']) {
    if (!Array.isArray(spec[list])) continue;
    spec[list] = asList(spec[list]).map((one) => ({ ...asObj(one), image: '' }));
  }
  return spec;
}

function budgetProblems(budget: Obj): Cause[] {
  const spec = asObj(budget['spec']);
  const problems: Cause[] = [];
  if (spec['minAvailable'] !== undefined && spec['maxUnavailable'] !== undefined) {
    problems.push(
      fieldError.invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set'),
    );
  }
  for (const field of ['minAvailable', 'maxUnavailable']) {
    const value = spec[field];
    const isRight =
      value === undefined ||
      (typeof value === 'number' && Number.isInteger(value) && value >= 0) ||
      (typeof value === 'string' && /^[0-9]+%$/.test(value));
    if (isRight) continue;
    const detail =
      typeof value === 'string'
        ? "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
        : 'must be greater than or equal to 0';
    problems.push(fieldError.invalid(`spec.${field}`, value, detail));
  }
  return problems;
}

function leaseProblems(lease: Obj): Cause[] {
  const seconds = asNumber(at(lease, 'spec', 'leaseDurationSeconds'));
  if (seconds === undefined || seconds > 0) return [];
  return [fieldError.invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0')];
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function nodeProblems(node: Obj, before: Obj | undefined): Cause[] {
  const problems: Cause[] = [];
  const seen = new Set<string>();
  asList(at(node, 'spec', 'taints')).forEach((taint, i) => {
    // The real server names the wrong field, too.
    const path = `metadata.taints[${i}]`;
    const key = textAt(taint, 'key');
    for (const problem of qualifiedNameProblems(key)) {
      problems.push(fieldError.invalid(`${path}.key`, key, problem));
    }
    const effect = at(taint, 'effect');
    if (!EFFECTS.includes(asText(effect))) {
      problems.push(fieldError.unsupported(`${path}.effect`, effect ?? '', EFFECTS));
    }
    const pair = `${textAt(taint, 'key')}:${asText(effect)}`;
    if (seen.has(pair)) {
      problems.push({
        reason: 'FieldValueDuplicate',
        message: `Duplicate value: ${JSON.stringify(taint)}`,
        field: path,
      });
    }
    seen.add(pair);
  });
  if (before !== undefined) problems.push(...problems);
  const providerId = textAt(before, 'spec', 'providerID');
  if (providerId !== '' && textAt(node, 'spec', 'providerID') !== providerId) {
    problems.push(
      fieldError.forbidden(
        'spec.providerID',
        'node updates may not change providerID except from "" to valid',
      ),
    );
  }
  return problems;
}
