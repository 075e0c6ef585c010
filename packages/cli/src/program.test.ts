// Proves the front door of programs that are one command: version, help and refusals with their prefix and
// exit code, and that the processes of a cluster load nothing of the fleet's own: a process that runs in
// every cluster is paid for in memory by the cluster's owner.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { operatorProgram } from './operator/command.ts';
import { podControllerProgram } from './pod-controller/command.ts';
import { type Program, runProgram } from './program.ts';
import { ran, type RunOptions } from './testing/run-bigfleet.ts';

async function run(
  program: Program,
  argv: readonly string[],
  options: RunOptions = {},
): Promise<readonly [code: number, output: string, error: string]> {
  const { code, output, error } = await ran(
    (context) => runProgram(program, argv, context),
    options,
  );
  return [code, output, error];
}

for (const program of [operatorProgram, podControllerProgram]) {
  const { command, prefix } = program.wording;

  test(`${command}: version and help, also beside flags that are wrong`, async () => {
    assert.deepEqual(await run(program, ['--version']), [0, `${command} 0.1.0\n`, '']);
    const [code, help, error] = await run(program, ['--no-such-flag', '--help']);
    assert.deepEqual([code, error], [0, '']);
    assert.ok(help.startsWith(`Usage: ${command} [flags]\n`));
    for (const name of Object.keys(program.command.flags)) assert.ok(help.includes(`--${name}`));
  });

  test(`${command}: what is wrong is one line, and exit code 1`, async () => {
    const typo = await run(program, ['--kubeconfg=x']);
    const words = `${prefix}: unknown flag --kubeconfg; did you mean --kubeconfig?\n`;
    assert.deepEqual(typo, [1, '', words]);
    const [code, , error] = await run(program, [], { nodeVersion: '20.0.0' });
    assert.deepEqual([code, error], [1, `${prefix}: needs Node.js 24, this is 20.0.0\n`]);
  });
}

const FLEET = /\/packages\/(?:shard|coordclient|coordinator|providerkit|sim)\//;
const HOOK = new URL('./testing/print-modules.ts', import.meta.url).href;

function modulesOf(main: URL, argument: string): readonly string[] {
  const argv = ['--import', HOOK, fileURLToPath(main), argument];
  const { status, stdout } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
  assert.equal(status, 0);
  return stdout.split('\n').filter((line) => line.startsWith('file:'));
}

test('the processes of a cluster load neither shard nor coordinator', () => {
  for (const main of [
    new URL('./operator-main.ts', import.meta.url),
    new URL('./pod-controller-main.ts', import.meta.url),
  ]) {
    const modules = modulesOf(main, '--version');
    assert.ok(modules.some((url) => url.includes('/packages/kube/')));
    assert.deepEqual(
      modules.filter((url) => FLEET.test(url)),
      [],
    );
  }
  const all = modulesOf(new URL('./main.ts', import.meta.url), '--help');
  assert.ok(
    all.some((url) => FLEET.test(url)),
    'and the look would find it',
  );
});
