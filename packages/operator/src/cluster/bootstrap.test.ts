// Proves what a bootstrap request is answered: the rendered template, or a refusal that the shard turns
// into a shortfall, and that the join secret stays wrapped.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Secret } from '@bigfleet/telemetry';
import { BootstrapRequestSchema, decode, encodeInit, Operator } from '@bigfleet/wire';
import { type BootstrapOptions, bootstrapRenderer } from './bootstrap.ts';

const facts = {
  apiServerEndpoint: 'https://api:6443',
  caCertBase64: 'Q0E=',
  caCertHash: 'sha256:00',
  kubernetesVersion: 'v1.36.3',
};

function rendered(options: Partial<BootstrapOptions>, requirementKey = 'zone'): unknown {
  const render = bootstrapRenderer({
    clusterId: 'prod-eu',
    template: '',
    allowedKeys: new Set(),
    facts,
    ...options,
  });
  const frame = encodeInit(BootstrapRequestSchema, {
    requestId: 'r1',
    machineId: 'aws/i-1',
    requirements: [{ key: requirementKey, operator: Operator.IN, values: ['a', 'b'] }],
  });
  const result = render(decode(BootstrapRequestSchema, frame, 'INTERNAL'));
  if (result.kind === 'unsatisfiable') return result.error;
  assert.equal(JSON.stringify(result.userData), '"[redacted]"');
  return [new TextDecoder().decode(result.userData.reveal()), result.ttlSeconds];
}

test('without a template, a stub names the cluster', () => {
  const [text, ttl] = rendered({}) as [string, number];
  assert.match(text, /^#cloud-config\n#.*prod-eu\n$/);
  assert.equal(ttl, 600);
});

test('a template sees cluster, machine, requirements and facts', () => {
  const template =
    '{{.ClusterID}} {{.MachineID}} {{.MachineIDLabel}} {{.APIServerEndpoint}} {{.CACertHash}}' +
    '{{range .Requirements}} {{.Key}}={{.Operator}}{{.Values}}{{end}}';
  const [text, ttl] = rendered({ template }) as [string, number];
  assert.match(
    text,
    /^prod-eu aws\/i-1 h-[0-9a-f]{32} https:\/\/api:6443 sha256:00 zone=In\[a b\]$/,
  );
  assert.equal(ttl, 0);
});

test('a field that does not exist is an error, never an empty string', () => {
  assert.match(
    String(rendered({ template: 'id: {{ .ClusterId }}' })),
    /can't evaluate field ClusterId/,
  );
});

test('the owner refuses in the template, in his own words', () => {
  assert.equal(rendered({ template: '{{ fail "no GPUs here" }}' }), 'no GPUs here');
});

test('a requirement outside the allowed keys is refused before the template runs', () => {
  const options = { template: '{{ fail "ran" }}', allowedKeys: new Set(['zone']) };
  assert.equal(rendered(options, 'gpu'), 'unsupported requirement key: gpu');
  assert.equal(rendered(options, 'zone'), 'ran');
});

test('with a pool, the token is in the blob and its life is the life of the blob', () => {
  const token = { token: new Secret('abc.def'), expiry: '2026-01-01T00:00:00Z', ttlSeconds: 840 };
  const template = '{{.BootstrapToken}} until {{.BootstrapTokenExpiry}}';
  assert.deepEqual(rendered({ template, token: () => token }), [
    'abc.def until 2026-01-01T00:00:00Z',
    840,
  ]);
  assert.equal(rendered({ template, token: () => undefined }), 'no valid bootstrap token');
});

test('a template that does not parse stops the start', () => {
  assert.throws(() => rendered({ template: '{{ if }}' }), /line 1/);
});
