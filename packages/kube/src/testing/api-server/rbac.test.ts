// Tokens name users, roles decide, and refusals read as the real ones.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { asObj, type Obj } from './json.ts';
import { ApiServer } from './server.ts';

function world(): (
  token: string | undefined,
  method: string,
  path: string,
  body?: unknown,
) => { status: number; object: Obj } {
  const time = createVirtualRuntime({ seed: '1', drain: drainMicrotasks });
  const tokens = new Map([
    ['root', { name: 'admin', groups: ['system:masters'] }],
    ['op', { name: 'system:serviceaccount:fleet:operator', groups: [] }],
  ]);
  const server = new ApiServer({ runtime: time.runtime, tokens, hasRbac: true });
  return (bearerToken, method, path, body) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const answer = server.answer({ method, path, body: text, bearerToken });
    assert.equal(answer.kind, 'answer');
    return { status: answer.status, object: asObj(JSON.parse(answer.text)) };
  };
}

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

test('a role grants its verbs, names and subresources, and nothing else', () => {
  const ask = world();
  assert.equal(ask('nobody', 'GET', '/api/v1/pods').status, 401);
  const before = ask('op', 'GET', '/api/v1/pods');
  assert.equal(before.status, 403);
  assert.equal(
    before.object['message'],
    'pods is forbidden: User "system:serviceaccount:fleet:operator" cannot list resource "pods" in API group "" at the cluster scope',
  );
  const rules = [
    { apiGroups: [''], resources: ['pods', 'pods/eviction'], verbs: ['list', 'create'] },
    { apiGroups: [''], resources: ['nodes'], resourceNames: ['n1'], verbs: ['get'] },
  ];
  assert.equal(
    ask('root', 'POST', `${RBAC}/clusterroles`, { metadata: { name: 'operator' }, rules }).status,
    201,
  );
  ask('root', 'POST', `${RBAC}/clusterrolebindings`, {
    metadata: { name: 'operator' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'operator' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'fleet', name: 'operator' }],
  });
  assert.equal(ask('op', 'GET', '/api/v1/pods').status, 200);
  assert.equal(ask('op', 'GET', '/api/v1/nodes/n1').status, 404);
  assert.equal(
    ask('op', 'GET', '/api/v1/nodes/n2').object['message'],
    'nodes "n2" is forbidden: User "system:serviceaccount:fleet:operator" cannot get resource "nodes" in API group "" at the cluster scope',
  );
  assert.equal(ask('op', 'POST', '/api/v1/namespaces/default/pods/x/eviction', {}).status, 404);
  const watched = ask('op', 'GET', '/api/v1/namespaces/default/pods?watch=1');
  assert.match(
    String(watched.object['message']),
    /cannot watch resource "pods" in API group "" in the namespace "default"/,
  );
  assert.match(
    String(ask(undefined, 'GET', '/api/v1/nodes').object['message']),
    /User "system:anonymous" cannot list/,
  );
});
