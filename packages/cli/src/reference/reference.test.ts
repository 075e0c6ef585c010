// Proves that the reference pages in docs/cli are what the tables of commands would write today, and
// that every verb and flag is on them.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { COMMANDS } from '../bigfleet.ts';
import { VERBS } from '../ctl/verbs/index.ts';
import { PROGRAMS, referencePages } from './pages.ts';

const root = path.join(import.meta.dirname, '../../../..');

for (const [name, text] of referencePages()) {
  test(`${name} is current`, () => {
    const current = readFileSync(path.join(root, name), 'utf8');
    assert.equal(current, text, 'run node packages/cli/src/reference/main.ts');
  });
}

test('the generator agrees, as make check would run it', () => {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, [main, '--check'], { encoding: 'utf8' });
  assert.deepEqual([status, stdout], [0, 'reference: 0 pages stale\n']);
});

test('every command of bigfleet is on the page with its flags', () => {
  const text = referencePages().get('docs/cli/bigfleet.md') ?? '';
  for (const [name, { flags }] of COMMANDS) {
    assert.ok(Object.keys(flags).length > 0, `${name}: its flags are not known`);
    assert.ok(text.includes(`\n## bigfleet ${name}\n`), name);
  }
});

test('each program of one command has its page with its flags', () => {
  assert.equal(PROGRAMS.length, 2);
  for (const { wording, command } of PROGRAMS) {
    const text = referencePages().get(`docs/cli/${wording.command}.md`) ?? '';
    for (const flag of Object.keys(command.flags)) assert.ok(text.includes(`\`--${flag}`), flag);
  }
});

test('every verb and each of its flags is on the page', () => {
  const text = referencePages().get('docs/cli/bigfleetctl.md') ?? '';
  for (const { name, flags } of VERBS) {
    const section = text.split(`\n### ${name}\n`)[1]?.split('\n### ')[0] ?? '';
    assert.notEqual(section, '', name);
    for (const flag of Object.keys(flags))
      assert.ok(section.includes(`--${flag}`), `${name} ${flag}`);
  }
});
