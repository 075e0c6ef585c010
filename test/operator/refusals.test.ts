// Proves that the two processes of a cluster refuse what they cannot run with: one line that says what to
// do, with a stable code where the environment is at fault, and exit code 1. Nothing is left listening.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { createTempDir } from '../toolkit/index.ts';
import { launch, type ProgramName } from './cluster-processes.ts';
import { KubeApi } from './kube-api.ts';

const NEEDED = ['--cluster-id=c', '--shard-addr=127.0.0.1:1'];

async function refusal(program: ProgramName, argv: readonly string[], env = {}): Promise<string> {
  await using child = await launch(program, argv, env);
  assert.deepEqual(await child.waitExit(), { kind: 'code', code: 1 });
  return child.output.text();
}

const flags: readonly (readonly [ProgramName, readonly string[], string])[] = [
  ['operator', [], 'operator: --cluster-id is required'],
  ['operator', ['--cluster-id=c'], 'operator: --shard-addr is required'],
  ['operator', [...NEEDED, '--tls-cert=x.pem'], '(tls_partial_configuration)'],
  ['operator', [...NEEDED, '--require-tls'], '(tls_required)'],
  ['pod-controller', ['--tls-cert=x.pem'], 'unschedulable-pod-controller: unknown flag --tls-cert'],
];
for (const [program, argv, words] of flags) {
  test(`${program} ${argv.join(' ')}`, async () => {
    const output = await refusal(program, argv);
    assert.ok(output.includes(words), output);
  });
}

test('files that are missing or wrong are named, with what is wrong in them', async () => {
  await using folder = createTempDir('cluster-files');
  await using api = await new KubeApi().start();
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(path.join(folder.path, name), text);
    return path.join(folder.path, name);
  };
  const missing = path.join(folder.path, 'missing');
  const access = `--kubeconfig=${api.kubeconfig}`;
  const template = '--bootstrap-template-file=';
  const classes = '--priority-class-defaults=';
  const cases: readonly (readonly [ProgramName, readonly string[], RegExp])[] = [
    [
      'operator',
      [...NEEDED, access, template + missing],
      /^operator: read bootstrap-template-file: ENOENT.*\(bootstrap_template_invalid\)$/m,
    ],
    [
      'operator',
      [...NEEDED, access, template + (await file('broken.tmpl', 'a\n{{ if .ClusterID }}'))],
      /^operator: parse bootstrap-template-file: .*broken\.tmpl: line 2: /m,
    ],
    [
      'operator',
      [...NEEDED, access, template + (await file('empty.tmpl', '\n'))],
      /^operator: parse bootstrap-template-file: .*: the file is empty/m,
    ],
    [
      'operator',
      [...NEEDED, `--kubeconfig=${missing}`],
      /^operator: kubeconfig .*missing: ENOENT.*\(kubeconfig_invalid\)$/m,
    ],
    [
      'operator',
      [...NEEDED, `--kubeconfig=${await file('list.yaml', '- a')}`],
      /^operator: kubeconfig .*list\.yaml: not a mapping/m,
    ],
    [
      'pod-controller',
      [`--kubeconfig=${missing}`],
      /^unschedulable-pod-controller: kubeconfig .*missing: ENOENT.*\(kubeconfig_invalid\)$/m,
    ],
    [
      'pod-controller',
      [access, '--require-tls'],
      /^unschedulable-pod-controller: TLS is required, and .*http:.*\(kube_insecure\)$/m,
    ],
    [
      'pod-controller',
      [access, classes + missing],
      /^unschedulable-pod-controller: read priority-class-defaults: ENOENT/m,
    ],
    [
      'pod-controller',
      [access, classes + (await file('bad.yaml', 'batch: {interruptionPenalty: lots}'))],
      /priority-class-defaults: .*bad\.yaml: batch\.interruptionPenalty: "lots" is no quantity/,
    ],
    [
      'pod-controller',
      [access, classes + (await file('high.yaml', 'batch: {priority: 3000000000}'))],
      /batch\.priority: 3000000000 is no 32-bit integer \(class_defaults_invalid\)/,
    ],
    [
      'pod-controller',
      [access, classes + (await file('twice.yaml', 'batch: {}\nbatch: {priority: 1}'))],
      /priority-class-defaults: .*\(batch: \{priority: 1\}\)/,
    ],
  ];
  for (const [program, argv, words] of cases) assert.match(await refusal(program, argv), words);
});

test('BIGFLEET_REQUIRE_TLS counts as --require-tls', async () => {
  await using api = await new KubeApi().start();
  const argv = [`--kubeconfig=${api.kubeconfig}`];
  const output = await refusal('pod-controller', argv, { BIGFLEET_REQUIRE_TLS: '1' });
  assert.match(output, /\(kube_insecure\)/);
});

test('--help and --version answer without a cluster', async () => {
  for (const [program, name] of [
    ['operator', 'bigfleet-operator'],
    ['pod-controller', 'bigfleet-unschedulable-pod-controller'],
  ] as const) {
    for (const [flag, words] of [
      ['--help', `Usage: ${name} [flags]`],
      ['--version', `${name} 0.1.0`],
    ] as const) {
      await using child = await launch(program, [flag]);
      assert.deepEqual(await child.waitExit(), { kind: 'code', code: 0 });
      assert.ok(child.output.text().includes(words));
    }
  }
});
