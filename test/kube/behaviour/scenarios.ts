// What an API server does that BigFleet's components meet, one scenario per theme. A scenario uses a namespace
// of its own, and waits only for what controllers do.

import { type Dialogue, textAt } from './dialogue.ts';
import type { Json } from '../api.ts';

export type Scenario = (d: Dialogue) => Promise<void>;

const OURS = '/apis/bigfleet.lucy.sh/v1alpha1';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const NODES = '/api/v1/nodes';

function version(object: Json): string {
  return textAt(object, 'metadata.resourceVersion');
}

function pod(name: string, more: { labels?: Json; spec?: Json } = {}): Json {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...(more.labels === undefined ? {} : { labels: more.labels }) },
    spec: { containers: [{ name: 'main', image: 'app:1' }], ...more.spec },
  };
}

function request(name: string, spec: Json = {}): Json {
  return {
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'CapacityRequest',
    metadata: { name },
    spec: { priority: 5, resources: { cpu: '1' }, ...spec },
  };
}

async function place(d: Dialogue, name: string): Promise<{ core: string; requests: string }> {
  await d.subject.namespace(name);
  return {
    core: `/api/v1/namespaces/${name}`,
    requests: `${OURS}/namespaces/${name}/capacityrequests`,
  };
}

const lists: Scenario = async (d) => {
  const { core } = await place(d, 'lists');
  const secrets = `${core}/secrets`;
  d.note('pages of one revision');
  for (const name of ['a', 'b', 'c', 'd', 'e']) await d.post(secrets, { metadata: { name } });
  const first = await d.list(`${secrets}?limit=2`, 'metadata.remainingItemCount');
  await d.delete(`${secrets}/c`);
  await d.post(secrets, { metadata: { name: 'cc' } });
  const token = encodeURIComponent(textAt(first.object, 'metadata.continue'));
  const second = await d.list(
    `${secrets}?limit=2&continue=${token}`,
    'metadata.remainingItemCount',
  );
  const next = encodeURIComponent(textAt(second.object, 'metadata.continue'));
  await d.list(`${secrets}?limit=2&continue=${next}`, 'metadata.remainingItemCount');
  d.note('wrong tokens and limits');
  await d.brief('GET', `${secrets}?limit=2&continue=abc`);
  await d.list(`${secrets}?limit=many`);
  await d.list(`${secrets}?limit=2&continue=${token}&resourceVersion=1`);
  d.note('a token from before a compaction');
  const old = await d.list(`${secrets}?limit=1`);
  await d.post(secrets, { metadata: { name: 'later' } });
  await d.subject.compact();
  const gone = encodeURIComponent(textAt(old.object, 'metadata.continue'));
  const expired = await d.list(`${secrets}?limit=1&continue=${gone}`);
  const rest = encodeURIComponent(textAt(expired.object, 'metadata.continue'));
  await d.list(`${secrets}?continue=${rest}`);
};

const resourceVersions: Scenario = async (d) => {
  const { core } = await place(d, 'versions');
  const secrets = `${core}/secrets`;
  const created = await d.post(secrets, { metadata: { name: 'a' } });
  d.note('lists');
  await d.list(`${secrets}?resourceVersion=abc`);
  await d.list(`${secrets}?resourceVersion=-1`);
  await d.list(`${secrets}?resourceVersion=0`);
  await d.list(`${secrets}?resourceVersion=${version(created.object)}`);
  await d.list(`${secrets}?resourceVersionMatch=Exact`);
  await d.list(`${secrets}?resourceVersion=0&resourceVersionMatch=Exact`);
  await d.list(`${secrets}?resourceVersion=1&resourceVersionMatch=Sometimes`);
  d.note('gets');
  await d.get(`${secrets}/a?resourceVersion=abc`);
  await d.get(`${secrets}/a?resourceVersion=0`);
  d.note('watches');
  for (const wrong of ['abc', '-1']) {
    await d.get(`${secrets}?watch=true&resourceVersion=${wrong}&timeoutSeconds=1`);
  }
  await d.get(`${secrets}?watch=true&timeoutSeconds=soon`);
  await d.get(`${secrets}?watch=true&sendInitialEvents=true&timeoutSeconds=1`);
};

const watches: Scenario = async (d) => {
  const { core } = await place(d, 'watches');
  const secrets = `${core}/secrets`;
  const first = await d.post(secrets, { metadata: { name: 'a' } });
  await d.merge(`${secrets}/a`, { metadata: { labels: { app: 'x' } } });
  await d.post(secrets, { metadata: { name: 'b' } });
  await d.delete(`${secrets}/b`);
  d.note('from a version');
  const from = version(first.object);
  const resumed = await d.watch(`${secrets}?watch=true&resourceVersion=${from}&timeoutSeconds=5`);
  await d.events(resumed, 4, 'metadata.labels');
  d.note('out of a selection');
  const selected = await d.watch(
    `${secrets}?watch=true&resourceVersion=${from}&labelSelector=app%3Dx&timeoutSeconds=30`,
  );
  await d.events(selected, 1, 'metadata.labels');
  await d.merge(`${secrets}/a`, { metadata: { labels: { app: 'y' } } });
  await d.events(selected, 1, 'metadata.labels');
  selected.end();
  d.note('a streamed list ends in a bookmark');
  const streamed = await d.watch(
    `${secrets}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=30`,
  );
  await d.events(streamed, 2, 'metadata.annotations');
  streamed.end();
  d.note('without a version it begins with what is there');
  const anew = await d.watch(`${secrets}?watch=true&timeoutSeconds=5`);
  await d.events(anew, 2);
  d.note('one object by its name');
  const one = await d.watch(
    `${secrets}?watch=true&fieldSelector=metadata.name%3Da&resourceVersion=${from}&timeoutSeconds=5`,
  );
  await d.events(one, 3, 'metadata.labels');
};

const patches: Scenario = async (d) => {
  const { core, requests } = await place(d, 'patches');
  const maps = `${core}/configmaps`;
  const path = `${maps}/a`;
  await d.post(maps, { metadata: { name: 'a' }, data: { x: '1', y: '2' } });
  d.note('merge patches');
  await d.merge(path, { data: { x: null, z: '3' } }, 'data');
  for (const body of ['{"data":', '[]', '"text"']) {
    await d.brief('PATCH', path, { body, contentType: 'application/merge-patch+json' });
  }
  await d.merge(path, { metadata: { name: 'b' } });
  await d.merge(path, { metadata: { resourceVersion: '1' }, data: { x: '9' } });
  await d.merge(path, { metadata: { uid: 'other' } });
  await d.merge(`${maps}/missing`, { data: {} });
  d.note('JSON patches');
  await d.jsonPatch(path, [{ op: 'add', path: '/data/n', value: '1' }], 'data');
  await d.jsonPatch(path, [{ op: 'test', path: '/data/n', value: '2' }]);
  await d.jsonPatch(path, [{ op: 'remove', path: '/data/none' }]);
  await d.jsonPatch(path, [{ op: 'replace', path: '/data/none', value: 'x' }], 'data');
  await d.jsonPatch(path, [{ op: 'add', path: '/data/deep/er', value: 'x' }]);
  await d.jsonPatch(path, [{ op: 'dance', path: '/data/n' }]);
  for (const body of ['{"op":"add"}', '[{']) {
    await d.brief('PATCH', path, { body, contentType: 'application/json-patch+json' });
  }
  d.note('media types');
  await d.ask('PATCH', path, { body: {}, contentType: 'text/plain' }, []);
  await d.ask('PATCH', path, { body: {}, contentType: 'application/json' }, []);
  await d.post(requests, request('a'));
  const strategic = 'application/strategic-merge-patch+json';
  await d.ask('PATCH', `${requests}/a`, { body: {}, contentType: strategic }, []);
  await d.ask('POST', maps, { body: 'x', contentType: 'text/plain' }, []);
};

const validation: Scenario = async (d) => {
  const { requests } = await place(d, 'validation');
  const rows: Json[] = [
    { priority: undefined },
    { priority: 'high' },
    { priority: 1.5 },
    { priority: 2_147_483_648 },
    { priority: -2_147_483_649 },
    { priority: null },
    { resources: undefined },
    { resources: { cpu: true } },
    { resources: { cpu: 'much' } },
    { resources: { cpu: 1.5 } },
    { resources: [] },
    { interruptionPenalty: 'much' },
    { interruptionPenalty: '' },
    { requirements: [{ key: '', operator: 'In' }] },
    { requirements: [{ key: 'a', operator: 'Same' }] },
    { requirements: [{ key: 'a' }] },
    { requirements: [{ key: 'a', operator: 'In', values: [1] }] },
    { requirements: {} },
    { topologySpread: [{ topologyKey: 'zone', maxSkew: 'x', whenUnsatisfiable: 'DoNotSchedule' }] },
    { coLocation: {} },
  ];
  for (const spec of rows) await d.post(requests, request('a', spec));
  d.note('unknown fields');
  const unknown = request('a', { color: 'red' });
  await d.post(`${requests}?fieldValidation=Strict`, unknown);
  await d.post(`${requests}?fieldValidation=Sometimes`, unknown);
  await d.post(requests, unknown, 'spec');
  d.note('status');
  const status = `${requests}/a/status`;
  await d.merge(status, { status: { phase: 'Released' } });
  await d.merge(status, { status: { phase: 'Acknowledged', acknowledgedAt: 'yesterday' } });
  await d.merge(status, { status: { acknowledgedAt: '2026-01-01T00:00:00Z' } });
  await d.merge(
    status,
    { status: { phase: 'Acknowledged', acknowledgedAt: '2026-01-01T00:00:00Z' } },
    'status.phase',
  );
  d.note('bodies');
  for (const body of ['{"metadata":', '[]']) await d.brief('POST', requests, { body });
  await d.post(requests, {});
  await d.post(requests, { ...request('b'), kind: 'Pod' });
  await d.post(requests, { ...request('b'), apiVersion: 'bigfleet.lucy.sh/v2' });
  await d.post(requests, { ...request('b'), spec: undefined });
  await d.post(requests, { ...request('b'), metadata: undefined });
};

const deletes: Scenario = async (d) => {
  const { core, requests } = await place(d, 'deletes');
  const secrets = `${core}/secrets`;
  const pods = `${core}/pods`;
  await d.post(secrets, { metadata: { name: 'a' } });
  d.note('bodies');
  await d.brief('DELETE', `${secrets}/a`, { body: '{"preconditions":' });
  await d.brief('DELETE', `${secrets}/a`, { body: { kind: 'Pod', apiVersion: 'v1' } });
  await d.delete(`${secrets}/a`, { propagationPolicy: 'Sideways' });
  await d.delete(`${secrets}/a`, { orphanDependents: true, propagationPolicy: 'Orphan' });
  await d.delete(`${secrets}/a`, { preconditions: { uid: 'other' } });
  await d.delete(`${secrets}/a`, { preconditions: { resourceVersion: '1' } });
  await d.delete(`${secrets}/a?dryRun=All`);
  await d.delete(`${secrets}/a?gracePeriodSeconds=0`);
  await d.delete(`${secrets}/a`);
  d.note('what comes back');
  await d.post(requests, request('a'));
  await d.delete(`${requests}/a`);
  await d.post(pods, pod('free'));
  await d.delete(`${pods}/free`, undefined, 'metadata.deletionGracePeriodSeconds');
  d.note('a finalizer holds');
  const finalizers = ['example.org/hold'];
  await d.post(`${core}/configmaps`, { metadata: { name: 'held', finalizers } });
  const held = `${core}/configmaps/held`;
  await d.delete(held, undefined, 'metadata.finalizers', 'metadata.deletionGracePeriodSeconds');
  await d.merge(held, { metadata: { finalizers: ['example.org/hold', 'example.org/more'] } });
  await d.merge(held, { metadata: { finalizers: null } }, 'metadata.finalizers');
  await d.get(held);
  d.note('collections');
  for (const name of ['x', 'y']) {
    await d.post(secrets, { metadata: { name, labels: { app: name } } });
  }
  await d.delete(`${secrets}?labelSelector=app%3Dx`, undefined, 'items.0.metadata.name');
  await d.list(secrets);
  await d.delete('/api/v1/nodes/missing');
};

const statusAndGeneration: Scenario = async (d) => {
  const { requests, core } = await place(d, 'status');
  const path = `${requests}/a`;
  const shows = ['metadata.generation', 'spec.priority', 'status'];
  await d.post(requests, { ...request('a'), status: { phase: 'Pending' } }, ...shows);
  await d.merge(path, { status: { phase: 'Pending' } }, ...shows);
  await d.merge(
    `${path}/status`,
    { status: { phase: 'Pending' }, spec: { priority: 9 } },
    ...shows,
  );
  await d.merge(`${path}/status`, { metadata: { labels: { a: 'b' } } }, 'metadata.labels');
  await d.merge(path, { spec: { priority: 6 } }, ...shows);
  await d.merge(path, { metadata: { labels: { c: 'd' } } }, 'metadata.generation');
  await d.merge(path, { spec: { priority: 6 } }, 'metadata.generation');
  await d.merge(`${path}/status`, {
    metadata: { resourceVersion: '1' },
    status: { phase: 'Pending' },
  });
  await d.get(`${path}/status`, 'status');
  await d.post(`${path}/status`, {});
  await d.get(`${path}/scale`);
  d.note('replacing');
  const now = await d.get(path);
  await d.put(path, request('a', { priority: 7 }));
  const resourceVersion = version(now.object);
  const versioned = (spec: Json): Json => ({
    ...request('a', spec),
    metadata: { name: 'a', resourceVersion },
  });
  await d.put(path, versioned({ priority: 8 }), ...shows);
  await d.put(path, versioned({ priority: 9 }));
  await d.put(`${requests}/b`, request('b'));
  await d.put(path, { ...request('b'), metadata: { name: 'b', resourceVersion: '1' } });
  d.note('Pods');
  await d.post(`${core}/pods`, { ...pod('p'), status: { phase: 'Running' } }, 'status.phase');
  await d.merge(`${core}/pods/p`, { status: { phase: 'Running' } }, 'status.phase');
  await d.merge(`${core}/pods/p/status`, { status: { phase: 'Running' } }, 'status.phase');
};

const selectors: Scenario = async (d) => {
  const { core, requests } = await place(d, 'selectors');
  const pods = `${core}/pods`;
  // Another scheduler's Pods: kube-scheduler would write to their status.
  const spec = { schedulerName: 'nobody' };
  await d.post(pods, pod('a', { labels: { app: 'x', tier: '1' }, spec }));
  await d.post(pods, pod('b', { labels: { app: 'y' }, spec: { ...spec, nodeName: 'n1' } }));
  await d.post(pods, pod('c', { spec }));
  for (const query of [
    'labelSelector=app',
    'labelSelector=!app',
    'labelSelector=app=x',
    'labelSelector=app==x',
    'labelSelector=app!=x',
    'labelSelector=app in (x, y),tier',
    'labelSelector=app notin (x)',
    'labelSelector=tier>0',
    'fieldSelector=spec.nodeName=n1',
    'fieldSelector=spec.nodeName!=n1',
    'fieldSelector=spec.nodeName=',
    'fieldSelector=metadata.name=a,metadata.namespace=selectors',
    'fieldSelector=spec.color=red',
    'fieldSelector=metadata.name>a',
    'fieldSelector=metadata.name',
  ]) {
    await d.list(`${pods}?${encodeURI(query)}`);
  }
  for (const wrong of ['a b c', 'app in x', '-app', 'app=no spaces']) {
    await d.brief('GET', `${pods}?labelSelector=${encodeURIComponent(wrong)}`);
  }
  d.note('selectable fields');
  for (const name of ['a', 'b']) await d.post(requests, request(name));
  await d.merge(`${requests}/a/status`, { status: { phase: 'Pending' } });
  for (const field of [
    'status.phase=Pending',
    'status.phase!=Pending',
    'spec.priority=5',
    'metadata.name=a',
  ]) {
    await d.list(`${requests}?fieldSelector=${encodeURIComponent(field)}`);
  }
  await d.list(`${OURS}/capacityrequests?fieldSelector=status.phase%3DPending`);
};

const tables: Scenario = async (d) => {
  const { requests } = await place(d, 'tables');
  await d.post(requests, request('a'));
  await d.merge(`${requests}/a/status`, { status: { phase: 'Pending' } });
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const columns = [0, 1, 2, 3].flatMap((i) => [
    `columnDefinitions.${i}.name`,
    `columnDefinitions.${i}.type`,
  ]);
  const cells = [0, 1, 2].map((i) => `rows.0.cells.${i}`);
  await d.ask('GET', requests, { accept }, [...columns, ...cells, 'rows.0.object.kind']);
  await d.ask('GET', `${requests}/a`, { accept }, [...cells]);
  await d.ask('GET', `${requests}/missing`, { accept }, []);
  await d.ask('GET', `${requests}?includeObject=None`, { accept }, ['rows.0.object']);
  for (const plural of ['upcomingnodes', 'availablecapacities']) {
    await d.ask('GET', `${OURS}/${plural}`, { accept }, columns);
  }
  const partial = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
  await d.ask('GET', requests, { accept: partial }, ['items.0.kind', 'items.0.spec']);
  await d.ask('GET', requests, { accept: 'text/html' }, []);
};

const evictions: Scenario = async (d) => {
  const { core } = await place(d, 'evictions');
  const pods = `${core}/pods`;
  const budgets = '/apis/policy/v1/namespaces/evictions/poddisruptionbudgets';
  const eviction = (name: string, deleteOptions?: Json): Json => ({
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name },
    ...(deleteOptions === undefined ? {} : { deleteOptions }),
  });
  const start = async (name: string, labels: Json): Promise<void> => {
    await d.post(pods, pod(name, { labels, spec: { nodeName: 'nowhere' } }));
    await d.merge(`${pods}/${name}/status`, {
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    });
  };
  for (const name of ['a', 'b']) await start(name, { app: 'db' });
  d.note('without a budget');
  await d.post(`${pods}/missing/eviction`, eviction('missing'));
  await d.post(`${pods}/a/eviction`, eviction('b'));
  await d.post(`${pods}/a/eviction`, eviction('a', { preconditions: { uid: 'other' } }));
  await d.post(`${pods}/a/eviction?dryRun=All`, eviction('a'));
  d.note('with a budget');
  const selector = { matchLabels: { app: 'db' } };
  await d.post(budgets, { metadata: { name: 'db' }, spec: { minAvailable: 2, selector } });
  await d.until(`${budgets}/db`, { 'status.currentHealthy': 2, 'status.desiredHealthy': 2 });
  await d.post(`${pods}/a/eviction`, eviction('a'));
  await d.merge(`${budgets}/db`, { spec: { minAvailable: 1 } }, 'metadata.generation');
  await d.until(`${budgets}/db`, { 'status.disruptionsAllowed': 1 });
  await d.post(`${pods}/a/eviction`, eviction('a', { gracePeriodSeconds: 7 }));
  await d.get(`${pods}/a`, 'metadata.deletionGracePeriodSeconds');
  await d.until(`${budgets}/db`, { 'status.currentHealthy': 1, 'status.disruptionsAllowed': 0 });
  await d.post(`${pods}/b/eviction`, eviction('b'));
  d.note('two budgets');
  await d.post(budgets, { metadata: { name: 'more' }, spec: { maxUnavailable: 1, selector } });
  await d.post(`${pods}/b/eviction`, eviction('b'));
  d.note('wrong budgets');
  const wrong = (spec: Json): Promise<unknown> =>
    d.post(budgets, { metadata: { name: 'w' }, spec: { selector, ...spec } });
  const both = { minAvailable: 1, maxUnavailable: 1, selector };
  await d.brief('POST', budgets, { body: { metadata: { name: 'w' }, spec: both } });
  await wrong({ minAvailable: -1 });
  await wrong({ minAvailable: 'half' });
};

const definitions: Scenario = async (d) => {
  await place(d, 'definitions');
  const widgets = '/apis/example.org/v1/namespaces/definitions/widgets';
  const properties = { size: { type: 'integer' } };
  const definition = (spec: Json): Json => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
      versions: [versionOf(properties)],
      ...spec,
    },
  });
  const versionOf = (fields: Json): Json => ({
    name: 'v1',
    served: true,
    storage: true,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: fields } },
      },
    },
  });
  await d.get(widgets);
  await d.post(DEFINITIONS, { ...definition({}), metadata: { name: 'gadgets.example.org' } });
  await d.post(DEFINITIONS, definition({ scope: 'Everywhere' }));
  await d.post(DEFINITIONS, definition({}), 'metadata.generation');
  await d.until(`${DEFINITIONS}/widgets.example.org`, {
    'status.conditions.1.type': 'Established',
  });
  await d.until(`${DEFINITIONS}/widgets.example.org`, { 'status.conditions.1.status': 'True' });
  await d.until(widgets, { kind: 'WidgetList' });
  const widget = {
    apiVersion: 'example.org/v1',
    kind: 'Widget',
    metadata: { name: 'w' },
    spec: {},
  };
  await d.post(widgets, widget, 'spec');
  d.note('a schema that changes ends the watches, and defaults are there for every later read');
  const watch = await d.watch(`${widgets}?watch=true&timeoutSeconds=60`);
  await d.events(watch, 1);
  const changed = { ...properties, tier: { type: 'string', default: 'standard' } };
  await d.merge(
    `${DEFINITIONS}/widgets.example.org`,
    { spec: { versions: [versionOf(changed)] } },
    'metadata.generation',
  );
  await d.events(watch, 1);
  await d.until(`${widgets}/w`, { 'spec.tier': 'standard' });
  await d.get(`${widgets}/w`, 'spec', 'metadata.generation');
  d.note('the end of a definition is the end of its objects');
  await d.delete(`${DEFINITIONS}/widgets.example.org`);
  await d.untilGone(`${DEFINITIONS}/widgets.example.org`);
  await d.untilGone(widgets);
};

const names: Scenario = async (d) => {
  const { core, requests } = await place(d, 'names');
  const maps = `${core}/configmaps`;
  for (const metadata of [
    { name: 'A' },
    { name: 'a_b' },
    { name: 'x'.repeat(254) },
    { name: '' },
    {},
    { name: 'ok', labels: { a: 'no spaces' } },
    { name: 'ok', labels: { 'no spaces': 'a' } },
    { name: 'ok', labels: { a: 'x'.repeat(64) } },
    { name: 'ok', annotations: { 'no spaces': 'a' } },
    { name: 'ok', namespace: 'other' },
    { name: 'ok', generateName: 'ignored-' },
    { name: 'ok' },
  ]) {
    await d.post(maps, { metadata });
  }
  d.note('generated names');
  const drawn = await d.subject.api.create(maps, { metadata: { generateName: 'job-' } });
  d.note(/^job-[a-z0-9]{5}$/.test(textAt(drawn.object, 'metadata.name')) ? 'drawn' : 'wrong');
  for (const length of [248, 253, 254]) {
    const generateName = `${'a'.repeat(length - 1)}-`;
    const long = await d.subject.api.create(requests, {
      ...request('x'),
      metadata: { generateName },
    });
    const name = textAt(long.object, 'metadata.name');
    d.note(`${length}: ${long.status} ${name.length} ${textAt(long.object, 'reason')}`);
  }
  d.note('namespaces');
  await d.post('/api/v1/namespaces/nowhere/configmaps', { metadata: { name: 'a' } });
  await d.get('/api/v1/namespaces/nowhere/configmaps/a');
  await d.list('/api/v1/namespaces/nowhere/configmaps');
  d.note('paths');
  await d.get('/api/v1/foos');
  await d.get('/apis/nothing.example.org/v1/foos');
  await d.get(`${maps}/zzz`);
  await d.post(`${maps}/zzz`, {});
  await d.put(maps, {});
  await d.get(`${maps}/ok/status`);
};

const leases: Scenario = async (d) => {
  await place(d, 'leases');
  const path = '/apis/coordination.k8s.io/v1/namespaces/leases/leases';
  const lease = (spec: Json, metadata: Json = {}): Json => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'a', ...metadata },
    spec,
  });
  const held = { holderIdentity: 'one', leaseDurationSeconds: 15 };
  const created = await d.post(path, lease(held), 'spec.holderIdentity');
  await d.post(path, lease(held));
  const resourceVersion = version(created.object);
  const next = lease({ ...held, holderIdentity: 'two' }, { resourceVersion });
  await d.put(`${path}/a`, next, 'spec.holderIdentity');
  await d.put(`${path}/a`, next);
  await d.put(`${path}/a`, lease(held));
  await d.put(`${path}/b`, { ...lease(held), metadata: { name: 'b' } }, 'spec.holderIdentity');
  await d.merge(`${path}/a`, { spec: { leaseDurationSeconds: 0 } });
  await d.merge(
    `${path}/a`,
    { spec: { renewTime: '2026-01-01T00:00:00.000000Z' } },
    'spec.renewTime',
  );
};

const nodes: Scenario = async (d) => {
  await place(d, 'nodes');
  const path = `${NODES}/behaviour-1`;
  const body = { metadata: { name: 'behaviour-1' }, spec: { providerID: 'test://1' } };
  await d.post(NODES, body, 'spec.taints.0.key', 'spec.taints.0.effect');
  await d.merge(
    `${path}/status`,
    { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
    'status.conditions.0.status',
  );
  await d.merge(path, { spec: { providerID: 'test://2' } });
  await d.merge(path, { spec: { unschedulable: true } }, 'spec.unschedulable');
  await d.merge(path, { spec: { taints: [{ key: 'a', effect: 'Never' }] } });
  await d.merge(path, { spec: { taints: [{ effect: 'NoSchedule' }] } });
  await d.merge(
    path,
    { metadata: { labels: { 'bigfleet.lucy.sh/machine-id': 'm-1' } } },
    'metadata.name',
  );
  await d.list(`${NODES}?fieldSelector=spec.unschedulable%3Dtrue`);
  await d.delete(path);
};

const pods: Scenario = async (d) => {
  const { core } = await place(d, 'pods');
  const path = `${core}/pods`;
  const spec = { schedulerName: 'nobody' };
  await d.post(
    path,
    pod('a', { spec }),
    'spec.priority',
    'spec.terminationGracePeriodSeconds',
    'spec.restartPolicy',
    'status',
  );
  await d.post(path, pod('a', { spec }));
  await d.post(path, { ...pod('b'), spec: {} });
  await d.post(path, pod('b', { spec: { priorityClassName: 'none' } }));
  await d.post(path, pod('b', { spec: { priority: 7 } }));
  await d.brief('POST', path, { body: { ...pod('b'), kind: 'Node' } });
  const resources = { limits: { 'nvidia.com/gpu': '1' } };
  await d.post(
    path,
    pod('gpu', { spec: { ...spec, containers: [{ name: 'main', image: 'app:1', resources }] } }),
    'spec.containers.0.resources.requests',
    'status.qosClass',
  );
  d.note('binding');
  const bind = (name: string, node: string): Promise<unknown> =>
    d.post(`${path}/${name}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name },
      target: { kind: 'Node', name: node },
    });
  await bind('missing', 'n1');
  await bind('a', '');
  await bind('a', 'n1');
  await d.get(`${path}/a`, 'spec.nodeName');
  await bind('a', 'n2');
  d.note('what may not change');
  await d.merge(`${path}/a`, { metadata: { uid: 'other' } });
  await d.merge(`${path}/a`, { spec: { schedulingGates: [{ name: 'late' }] } });
  d.note('ending');
  await d.delete(`${path}/a`, undefined, 'metadata.deletionGracePeriodSeconds');
  await d.delete(`${path}/a`, { gracePeriodSeconds: 0, preconditions: { uid: 'other' } });
  await d.delete(`${path}/a`, { gracePeriodSeconds: 0 });
  await d.get(`${path}/a`);
  d.note('gates');
  await d.post(path, pod('gated', { spec: { schedulingGates: [{ name: 'queue' }] } }), 'status');
  await bind('gated', 'n1');
  await d.merge(`${path}/gated`, { spec: { schedulingGates: null } }, 'spec.schedulingGates');
};

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  definitions,
  deletes,
  evictions,
  leases,
  lists,
  names,
  nodes,
  patches,
  pods,
  'resource-versions': resourceVersions,
  selectors,
  'status-and-generation': statusAndGeneration,
  tables,
  validation,
  watches,
};
