// Proves that every verb has a --help with an example that its own parser accepts, and keeps the
// texts golden.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFlags } from '@bigfleet/process/flags';
import { globalFlags } from './frame/flags.ts';
import { goldenScript } from './testing/golden.ts';
import { runCtl } from './testing/run-ctl.ts';
import { VERBS } from './verbs/index.ts';

goldenScript(new URL('./testdata/help.txt', import.meta.url), runCtl, VERBS.length + 8);

test('the golden file has the help of every verb', async () => {
  for (const { name } of VERBS) {
    const { code, output } = await runCtl([...name.split(' '), '--help']);
    assert.equal(code, 0);
    assert.match(output, new RegExp(`^Usage: bigfleetctl ${name} `));
    assert.match(output, /\n\nExamples:\n {2}bigfleetctl /);
  }
});

for (const verb of VERBS) {
  test(`the examples of ${verb.name} parse`, () => {
    assert.ok(verb.examples.length > 0);
    for (const example of verb.examples) {
      assert.ok(example.startsWith(verb.name), example);
      const words = example.slice(verb.name.length).match(/(?:'[^']*'|[^\s'])+/g) ?? [];
      const argv = words.map((word) => word.replaceAll("'", ''));
      const end = argv.indexOf('>');
      const parsed = parseFlags(
        { ...globalFlags, ...verb.flags },
        end < 0 ? argv : argv.slice(0, end),
        { maxWords: verb.words.length },
      );
      assert.ok(parsed.ok, `${example}: ${parsed.ok ? '' : parsed.error}`);
      for (const name of verb.required)
        assert.ok(new Set<string>(parsed.value.given).has(name), `${example}: ${name}`);
    }
  });
}
