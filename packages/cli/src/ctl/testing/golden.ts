// Golden scripts: `$ bigfleetctl …` lines with what they print below them; stderr behind `! `, a
// non-zero exit behind `exit `. With BIGFLEET_WRITE_GOLDEN=1 the outputs are written anew; the diff
// is then the review.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { RunResult } from './run-ctl.ts';

const PROMPT = '$ bigfleetctl';

interface Step {
  readonly command: string;
  readonly expected: string;
}

interface Script {
  /** What stands before the first command. */
  readonly head: string;
  readonly steps: readonly Step[];
}

export type RunCommand = (argv: readonly string[]) => Promise<RunResult>;

/** One test per script; its steps run in order. */
export function goldenScript(file: URL, run: RunCommand, minSteps: number): void {
  const script = parseScript(readFileSync(file, 'utf8'));
  test(`golden ${file.pathname.split('/').at(-1)}`, async (context) => {
    assert.ok(script.steps.length >= minSteps, `${script.steps.length} steps in the script`);
    const written: string[] = [];
    for (const { command, expected } of script.steps) {
      await context.test(command, async () => {
        const actual = transcript(await run(splitWords(command)));
        written.push(`${PROMPT}${command === '' ? '' : ` ${command}`}\n${actual}`);
        if (process.env['BIGFLEET_WRITE_GOLDEN'] !== '1') assert.equal(actual, expected);
      });
    }
    if (process.env['BIGFLEET_WRITE_GOLDEN'] === '1') {
      writeFileSync(file, `${script.head}${written.join('\n')}`);
    }
  });
}

function transcript({ code, output, error }: RunResult): string {
  const errors = error
    .split('\n')
    .slice(0, -1)
    .map((line) => `! ${line}\n`);
  return `${output}${errors.join('')}${code === 0 ? '' : `exit ${code}\n`}`;
}

function parseScript(text: string): Script {
  const [head = '', ...blocks] = text.split(/^\$ bigfleetctl(?=[ \n])/m);
  const steps = blocks.map((block, at) => {
    const end = block.indexOf('\n');
    const rest = block.slice(end + 1);
    // A blank line parts two steps.
    const expected = at < blocks.length - 1 ? rest.replace(/\n$/, '') : rest;
    return { command: block.slice(0, end).trim(), expected };
  });
  return { head, steps };
}

/** Words as a shell splits them, single quotes included. */
function splitWords(command: string): string[] {
  const words = command.match(/(?:'[^']*'|[^\s'])+/g) ?? [];
  return words.map((word) => word.replaceAll("'", ''));
}
