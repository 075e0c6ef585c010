// Pod `binding` and `eviction`. An eviction asks the one budget that covers the Pod and takes a disruption
// from it before the Pod is deleted; the disruption controller gives it back when the Pod is gone.

import { asNumber, asObj, asText, at, clone, metaOf, type Obj, textAt, textMap } from './json.ts';
import type { DeleteOptions, ObjectPlace, Objects, WriteMode } from './objects.ts';
import { matchesSelector } from './selectors.ts';
import { badRequest, conflict, forbidden, Refusal, success } from './status.ts';

export function bind(objects: Objects, place: ObjectPlace, body: Obj, mode: WriteMode): Obj {
  const target = textAt(body, 'target', 'name');
  const kind = textAt(body, 'target', 'kind') || 'Node';
  if (kind !== 'Node' || target === '') {
    throw new Refusal(500, '', 'target.name: Required value');
  }
  const pod = objects.get(place);
  const bindings = { ...place.type, plural: 'pods/binding' };
  const { name } = place;
  if (metaOf(pod)['deletionTimestamp'] !== undefined) {
    throw conflict(bindings, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  const bound = textAt(pod, 'spec', 'nodeName');
  if (bound !== '') {
    throw conflict(bindings, name, `pod ${name} is already assigned to node "${bound}"`);
  }
  if (
    Array.isArray(at(pod, 'spec', 'schedulingGates')) &&
    (at(pod, 'spec', 'schedulingGates') as unknown[]).length > 0
  ) {
    throw conflict(bindings, name, `pod ${name} has non-empty .spec.schedulingGates`);
  }
  if (mode.isDryRun !== true) {
    objects.adjust(place, (copy) => {
      asObj(copy['spec'])['nodeName'] = target;
      const annotations = {
        ...textMap(metaOf(copy)['annotations']),
        ...textMap(at(body, 'metadata', 'annotations')),
      };
      if (Object.keys(annotations).length > 0) metaOf(copy)['annotations'] = annotations;
      setCondition(copy, {
        type: 'PodScheduled',
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: objects.nowText,
      });
    });
  }
  return success(201);
}

/** Replaces the condition of the same type in an object's status, in place. */
export function setCondition(object: Obj, condition: Obj): void {
  const status = asObj(object['status']);
  const conditions = Array.isArray(status['conditions']) ? (status['conditions'] as unknown[]) : [];
  const others = conditions.filter((one) => at(one, 'type') !== condition['type']);
  object['status'] = { ...status, conditions: [...others, condition] };
}

const BUDGETS = 'policy/poddisruptionbudgets';
const MAX_DISRUPTED_PODS = 2000;
const BLOCKED = "Cannot evict pod as it would violate the pod's disruption budget.";
const PROCESSING_RETRY_SECONDS = 10;

export function evict(
  objects: Objects,
  place: ObjectPlace,
  { body, options }: { readonly body: Obj; readonly options: DeleteOptions },
): Obj {
  const named = textAt(body, 'metadata', 'name');
  if (named !== '' && named !== place.name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  const pod = objects.get(place);
  if (!ignoresBudgets(pod)) {
    // The uid is checked first: an eviction of a Pod that is gone must not cost a disruption.
    if (options.uid !== undefined && options.uid !== metaOf(pod)['uid'])
      objects.delete(place, { ...options, isDryRun: true });
    takeDisruption(objects, place, { pod, isDryRun: options.isDryRun === true });
  }
  objects.delete(place, options);
  return success(201);
}

/** Nothing is disrupted by the end of a Pod that does not run, or is ending already. */
function ignoresBudgets(pod: Obj): boolean {
  const phase = textAt(pod, 'status', 'phase');
  return (
    phase === 'Succeeded' ||
    phase === 'Failed' ||
    phase === 'Pending' ||
    metaOf(pod)['deletionTimestamp'] !== undefined
  );
}

export function isReady(pod: unknown): boolean {
  const conditions = at(pod, 'status', 'conditions');
  if (!Array.isArray(conditions)) return false;
  return conditions.some((one) => at(one, 'type') === 'Ready' && at(one, 'status') === 'True');
}

function takeDisruption(
  objects: Objects,
  place: ObjectPlace,
  { pod, isDryRun }: { readonly pod: Obj; readonly isDryRun: boolean },
): void {
  const labels = textMap(metaOf(pod)['labels']);
  const covering: Obj[] = [];
  for (const [, { object }] of objects.store.range(BUDGETS, `${place.namespace}/`)) {
    if (matchesSelector(at(object, 'spec', 'selector'), labels)) covering.push(object);
  }
  if (covering.length > 1) {
    throw new Refusal(
      500,
      '',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  const [budget] = covering;
  if (budget === undefined || isUnhealthyAndFree(pod, budget)) return;
  checkBudget(budget, objects);
  if (isDryRun) return;
  const type = objects.types.find('policy', 'v1', 'poddisruptionbudgets');
  if (type === undefined) return;
  const name = asText(metaOf(budget)['name']);
  objects.adjust({ type, namespace: place.namespace, name }, (copy) => {
    const status = asObj(copy['status']);
    const left = (asNumber(status['disruptionsAllowed']) ?? 0) - 1;
    copy['status'] = {
      ...status,
      disruptionsAllowed: left,
      disruptedPods: { ...asObj(status['disruptedPods']), [place.name]: objects.nowText },
    };
    if (left === 0) setCondition(copy, allowedCondition(copy, objects.nowText));
  });
}

/** A Pod that is not Ready costs its budget nothing when the budget is met without it. */
function isUnhealthyAndFree(pod: Obj, budget: Obj): boolean {
  if (isReady(pod)) return false;
  if (textAt(budget, 'spec', 'unhealthyPodEvictionPolicy') === 'AlwaysAllow') return true;
  const healthy = asNumber(at(budget, 'status', 'currentHealthy')) ?? 0;
  const desired = asNumber(at(budget, 'status', 'desiredHealthy')) ?? 0;
  return healthy >= desired && desired > 0;
}

function checkBudget(budget: Obj, objects: Objects): void {
  const name = asText(metaOf(budget)['name']);
  const status = asObj(budget['status']);
  const type = objects.types.find('policy', 'v1', 'poddisruptionbudgets');
  const observed = asNumber(status['observedGeneration']) ?? 0;
  if (observed < (asNumber(metaOf(budget)['generation']) ?? 0)) {
    throw tooManyRequests(
      `The disruption budget ${name} is still being processed by the server.`,
      PROCESSING_RETRY_SECONDS,
    );
  }
  if (
    type !== undefined &&
    Object.keys(asObj(status['disruptedPods'])).length > MAX_DISRUPTED_PODS
  ) {
    throw forbidden(
      type,
      name,
      'DisruptedPods map too big - too many evictions not confirmed by PDB controller',
    );
  }
  if ((asNumber(status['disruptionsAllowed']) ?? 0) > 0) return;
  const desired = asNumber(status['desiredHealthy']) ?? 0;
  const healthy = asNumber(status['currentHealthy']) ?? 0;
  throw tooManyRequests(
    `The disruption budget ${name} needs ${desired} healthy pods and has ${healthy} currently`,
    0,
  );
}

function tooManyRequests(cause: string, retryAfterSeconds: number): Refusal {
  return new Refusal(429, 'TooManyRequests', BLOCKED, {
    causes: [{ reason: 'DisruptionBudget', message: cause }],
    ...(retryAfterSeconds === 0 ? {} : { retryAfterSeconds }),
  });
}

export function allowedCondition(budget: Obj, nowText: string): Obj {
  const status = asObj(budget['status']);
  const isAllowed = (asNumber(status['disruptionsAllowed']) ?? 0) > 0;
  const conditions = Array.isArray(status['conditions']) ? (status['conditions'] as unknown[]) : [];
  const before = asObj(conditions.find((one) => at(one, 'type') === 'DisruptionAllowed'));
  const value = isAllowed ? 'True' : 'False';
  return clone({
    type: 'DisruptionAllowed',
    status: value,
    reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration: at(budget, 'metadata', 'generation'),
    lastTransitionTime: before['status'] === value ? before['lastTransitionTime'] : nowText,
  });
}
