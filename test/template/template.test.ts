// Proves, in seconds, what the long tests of this folder prove in minutes: a copy of the template is
// sound by its own tsconfig, has no dead code, runs under its folder's name, and refuses to start
// without being asked for the fake.

import assert from 'node:assert/strict';
import { copyFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createShadowTree } from '../docs/shadow-tree.ts';
import { startProcess } from '../toolkit/index.ts';
import { ROOT, SKIP } from './clone.ts';
import { ownEnvironment, runCommand } from './command.ts';

const NAME = 'copied';
const FOLDER = `providers/${NAME}`;
const bin = (tool: string): string => path.join(ROOT, 'node_modules/.bin', tool);

test('a copy passes its own type check and our dead-code check', SKIP, async () => {
  await using tree = createShadowTree(NAME);
  const options = { cwd: tree.path };
  await runCommand(bin('tsc'), ['-p', FOLDER, '--noEmit'], options);
  copyFileSync(path.join(ROOT, 'knip.json'), path.join(tree.path, 'knip.json'));
  await runCommand(bin('knip'), ['--no-config-hints', '--workspace', FOLDER], options);
});

test('the manifest names nothing that a copy would have to change', SKIP, () => {
  const text = readFileSync(path.join(ROOT, 'providers/_template/package.json'), 'utf8');
  const manifest = JSON.parse(text) as Readonly<Record<string, unknown>>;
  // Two workspaces with one name make an install fail; a nameless one takes its folder's name.
  assert.equal(manifest['name'], undefined);
  assert.equal(manifest['private'], true);
  assert.deepEqual(Object.keys(manifest['scripts'] as object).sort(), ['build', 'start', 'test']);
});

test('a copy runs under its own name, and only when asked for the fake', SKIP, async () => {
  await using tree = createShadowTree(NAME);
  const command = process.execPath;
  const main = path.join(tree.path, FOLDER, 'src/main.ts');
  const env = ownEnvironment();
  const flags = ['--addr=127.0.0.1:0', '--metrics-addr='];
  await using refused = await startProcess({
    name: 'without the fake',
    command,
    args: [main, ...flags],
    env,
  });
  assert.deepEqual(await refused.waitExit(), { kind: 'code', code: 1 });
  assert.match(refused.output.text(), /backend_not_configured/);
  await using started = await startProcess({
    name: 'the copy',
    command,
    args: [main, '--use-fake-backend', ...flags],
    env,
    ready: { kind: 'line', pattern: /serving CapacityProvider/ },
  });
  assert.match(
    started.output.text(),
    new RegExp(`component=provider-${NAME} .*${NAME}_backend=fake`),
  );
  assert.deepEqual(await started.stop(), { kind: 'code', code: 0 });
});
