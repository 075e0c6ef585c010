// Proves the flags of `bigfleet-unschedulable-pod-controller`: their defaults are the documented ones, and
// what cannot be meant is refused by name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Result } from '@bigfleet/base';
import { parseFlags } from '@bigfleet/process/flags';
import { podControllerFlags } from './flags.ts';
import { type PodControllerCommand, podControllerSettings } from './settings.ts';

function commandOf(argv: readonly string[], env = {}): Result<PodControllerCommand, string> {
  const parsed = parseFlags(podControllerFlags, argv);
  return parsed.ok ? podControllerSettings(parsed.value, env) : parsed;
}

test('without a flag: the documented defaults', () => {
  const command = commandOf([], { BIGFLEET_REVISION: 'abc' });
  assert.ok(command.ok);
  assert.deepEqual(command.value, {
    hasReflection: false,
    settings: {
      kubeconfig: '',
      metricsAddress: { kind: 'listen', host: undefined, port: 8080 },
      qps: 50,
      burst: 100,
      classDefaultsFile: '',
      daemonSetPods: 'count',
      excludedNamespaces: new Set(),
      requireTls: false,
      traceSamples: '',
      hasDebugEndpoints: false,
      build: { version: '0.1.0', revision: 'abc' },
    },
  });
});

test('namespaces are separated by commas', () => {
  const command = commandOf(['--exclude-namespaces=kube-system, batch']);
  assert.ok(command.ok);
  assert.deepEqual(command.value.settings.excludedNamespaces, new Set(['kube-system', 'batch']));
});

const refused: readonly (readonly [string, string])[] = [
  ['--daemonset-pods=maybe', 'write one of count, ignore'],
  ['--exclude-namespaces=a,B', '--exclude-namespaces: "B" is no namespace'],
  ['--burst=0', '--burst is at least 1'],
  ['--metrics-addr=x', '--metrics-addr: listen address "x"'],
  ['--tls-cert=x.pem', 'unknown flag --tls-cert'],
];
for (const [argument, words] of refused) {
  test(`refused: ${argument}`, () => {
    const command = commandOf([argument]);
    assert.ok(!command.ok && command.error.includes(words), command.ok ? 'taken' : command.error);
  });
}
