// Proves that a template means here what it means in Go, and that no template can do more than print:
// the results of Go's own text/template stand in testdata/go-results.json (test/kube/go-template writes
// them), and random templates end in text or in an error of ours.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import fc from 'fast-check';
import {
  compileTemplate,
  Struct,
  TemplateError,
  TemplateRefusal,
  TemplateSyntaxError,
} from './index.ts';

interface GoResults {
  readonly context: {
    readonly Requirements: readonly Record<string, string | string[]>[];
    readonly [name: string]: unknown;
  };
  readonly results: readonly {
    readonly template: string;
    readonly output?: string;
    readonly failure?: 'parse' | 'execute';
  }[];
}

const go = JSON.parse(
  readFileSync(new URL('./testdata/go-results.json', import.meta.url), 'utf8'),
) as GoResults;

const { ClusterID, Requirements, ...rest } = go.context;
const data = new Struct('main.Context', {
  ClusterID: String(ClusterID),
  Requirements: Requirements.map((one) => new Struct('main.Requirement', one)),
  ...(rest as Record<string, string>),
});

function rendered(template: string): { readonly output?: string; readonly failure?: string } {
  let run: ReturnType<typeof compileTemplate>;
  try {
    run = compileTemplate(template);
  } catch (error) {
    assert.ok(error instanceof TemplateSyntaxError, String(error));
    return { failure: 'parse' };
  }
  try {
    return { output: run(data) };
  } catch (error) {
    assert.ok(error instanceof TemplateError, String(error));
    return { failure: 'execute' };
  }
}

test('every template gives what Go gives, also where Go refuses it', () => {
  assert.ok(go.results.length > 190);
  for (const { template, output, failure } of go.results) {
    const expected = failure === undefined ? { output: output ?? '' } : { failure };
    assert.deepEqual(rendered(template), expected, JSON.stringify(template));
  }
});

test('an error names the line it happened in', () => {
  assert.throws(() => compileTemplate('a\nb {{ nope }}'), /line 2: function "nope" not defined/);
  const run = compileTemplate('a\n\n{{ .ClusterId }}');
  assert.throws(() => run(data), /line 3: can't evaluate field ClusterId in type main\.Context/);
});

test('fail ends the run with the text of its owner', () => {
  const run = compileTemplate('{{ if .ClusterID }}{{ fail "no GPU in " .ClusterID }}{{ end }}');
  assert.throws(
    () => run(data),
    (error) => error instanceof TemplateRefusal && error.message.includes('no GPU in prod-eu'),
  );
});

test('work, depth and output are bounded', () => {
  for (const [template, problem] of [
    ['{{ range 1000000000 }}{{ end }}', /runs too long/],
    ['{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}', /template depth/],
    ['{{ range 100000 }}xxxxxxxxxxxxxxxxxxxxxxxx{{ end }}', /too long/],
    ['{{ printf "%9999999d" 1 }}', /too long|width/],
  ] as const) {
    const run = compileTemplate(template);
    assert.throws(() => run(data), problem, template);
  }
});

test('no template reaches JavaScript, whatever it is made of', () => {
  const words =
    '{{ }} {{- -}} . $ | ( ) := = , " ` \' if else end range with define template block break nil ' +
    '.ClusterID .Requirements .constructor .__proto__ $x $ 1 -2 0x 1.5 index slice len printf eq and or ' +
    'html js "%s" "a" /* */ constructor';
  const piece = fc.constantFrom(' ', '\n', ...words.split(' '));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
      const { output } = rendered(pieces.join(''));
      assert.ok(output === undefined || !/native code|\[object|=>/.test(output));
    }),
    { numRuns: 20_000 },
  );
});
