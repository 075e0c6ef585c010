// Proves the quick start in its printed order, in a clone of this repository: the demo comes up, the
// five things to try do what they say, bigfleetctl looks inside, and so does kubectl with the commands that
// other pages print for such a fleet. Long because the clone installs its
// packages and builds the dashboard first, as a newcomer's does.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { cloneRepository } from '../template/clone.ts';
import { ownEnvironment, runCommand } from '../template/command.ts';
import { startProcess } from '../toolkit/index.ts';
import { allBlocks, blocksOf } from './pages.ts';
import { privateNetwork } from './private-network.ts';

const INSTALL_MS = 600_000;
const blocks = blocksOf('docs/quick-start.md');
const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
const skip = hasKubectl ? false : 'kubectl is missing: commands for the demo were not run';

test('the page holds one demo, five things to try and a look inside', () => {
  const tries = blocks.filter(({ text }) => /^make try-/m.test(text)).map(({ text }) => text);
  assert.deepEqual(
    tries,
    ['scale', 'zone', 'spot', 'shard', 'gang'].map((name) => `make try-${name}`),
  );
  assert.equal(blocks.filter(({ kind }) => kind === 'serve').length, 1);
});

test('the page, from its first block to its last', async (t) => {
  await using clone = cloneRepository();
  // With the real network: the demo itself has none but its own.
  await runCommand('make', ['install', 'web'], { cwd: clone.path, withinMs: INSTALL_MS });
  await using network = await privateNetwork();
  const env = { ...ownEnvironment(), ...clone.env };
  await using servers = new AsyncDisposableStack();
  let exported = '';
  for (const block of blocks) {
    const command = network.command('bash', ['-euo', 'pipefail', '-c', runnable(block.text)]);
    const options = { cwd: clone.path, env };
    if (block.kind === 'serve') {
      const ready = { kind: 'line', pattern: /^ready after/ } as const;
      const spec = { name: block.text, ...options, ...command, ready, readyWithinMs: INSTALL_MS };
      const demo = servers.use(await startProcess(spec));
      // At once: later the end of its output alone is kept.
      [exported = ''] = await demo.waitForLine(/export KUBECONFIG=\S+/);
    } else if (block.kind === 'run') {
      await t.test(`line ${block.line}: ${block.text.split('\n')[0] ?? ''}`, async () => {
        const output = await runCommand(command.command, command.args, options);
        assert.notEqual(output.trim(), '', 'it prints nothing');
      });
    }
  }
  for (const { page, block } of allBlocks('demo')) {
    await t.test(`${page}, line ${block.line}`, { skip }, async () => {
      const typed = block.text.replace(/^export KUBECONFIG=.*$/m, '');
      const text = `${exported}\n${typed}`;
      const { command, args } = network.command('bash', ['-euo', 'pipefail', '-c', text]);
      await runCommand(command, args, { cwd: clone.path, env });
    });
  }
});

/** `doctor` ends with 1 when it has warnings, and a demo without certificates has some. */
function runnable(text: string): string {
  return text.replace(/^(\S*bigfleetctl doctor)$/m, '$1 || [ $? -eq 1 ]');
}
