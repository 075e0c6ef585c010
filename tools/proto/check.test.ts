// Proves that each check of the wire contract passes on the repository and fails on a planted
// fault in a copy of it, and that the regenerating script refuses a breaking change.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  type Problem,
  checkBreaking,
  checkFormat,
  checkGenerated,
  checkImage,
  checkLint,
  imagePath,
  repositoryRoot,
} from './checks.ts';

const copies: string[] = [];
after(() => {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
});

function copyOfContract(): string {
  const copy = mkdtempSync(join(tmpdir(), 'bigfleet-proto-copy-'));
  copies.push(copy);
  for (const path of [
    'api/proto',
    imagePath,
    'buf.yaml',
    'buf.gen.yaml',
    'packages/wire/src/gen',
  ]) {
    cpSync(join(repositoryRoot, path), join(copy, path), { recursive: true });
  }
  return copy;
}

function edit(root: string, path: string, before: string, replacement: string): void {
  const text = readFileSync(join(root, path), 'utf8');
  assert.ok(text.includes(before), `${path} no longer has: ${before}`);
  writeFileSync(join(root, path), text.replace(before, replacement));
}

const provider = 'api/proto/bigfleet/v1alpha1/provider.proto';
const services = 'api/proto/bigfleet/ext/v1alpha1/services.proto';

interface Plant {
  readonly name: string;
  readonly plant: (root: string) => void;
  readonly check: (root: string) => Problem[];
  readonly says: RegExp;
}

const plants: readonly Plant[] = [
  {
    name: 'a renumbered field',
    plant: (root) => edit(root, provider, 'string last_error = 12;', 'string last_error = 16;'),
    check: checkBreaking,
    says: /"12" with name "last_error"/,
  },
  {
    name: 'a removed field',
    plant: (root) => edit(root, provider, '  string last_error = 12;\n', ''),
    check: checkBreaking,
    says: /"12" with name "last_error"/,
  },
  {
    name: 'a removed field of ours',
    plant: (root) => edit(root, services, '  bool cleaned = 2;\n', ''),
    check: checkBreaking,
    says: /"2" with name "cleaned"/,
  },
  {
    name: 'a removed reserved number',
    plant: (root) => edit(root, provider, '  reserved 11;\n\n', ''),
    check: checkBreaking,
    says: /reserved/,
  },
  {
    name: 'a missing image',
    plant: (root) => rmSync(join(root, imagePath)),
    check: checkBreaking,
    says: /missing/,
  },
  {
    name: 'an added field that the image does not know',
    plant: (root) => edit(root, services, 'bool cleaned = 2;', 'bool cleaned = 2;\n  bool x = 3;'),
    check: checkImage,
    says: /does not describe/,
  },
  {
    name: 'an added field that was not generated',
    plant: (root) => edit(root, services, 'bool cleaned = 2;', 'bool cleaned = 2;\n  bool x = 3;'),
    check: checkGenerated,
    says: /services_pb\.ts is not what/,
  },
  {
    name: 'an edited generated file',
    plant: (root) =>
      edit(root, 'packages/wire/src/gen/bigfleet/v1alpha1/provider_pb.ts', '@generated', 'edited'),
    check: checkGenerated,
    says: /provider_pb\.ts is not what/,
  },
  {
    name: 'a left-over generated file',
    plant: (root) => writeFileSync(join(root, 'packages/wire/src/gen/old_pb.ts'), ''),
    check: checkGenerated,
    says: /old_pb\.ts is left over/,
  },
  {
    name: 'a missing generated file',
    plant: (root) => rmSync(join(root, 'packages/wire/src/gen/bigfleet/v1alpha1/shard_pb.ts')),
    check: checkGenerated,
    says: /shard_pb\.ts is missing/,
  },
  {
    name: 'a badly named field',
    plant: (root) => edit(root, services, 'bool cleaned = 2;', 'bool wasCleaned = 2;'),
    check: checkLint,
    says: /lower_snake_case/,
  },
  {
    name: 'a badly formatted file',
    plant: (root) => edit(root, services, 'bool cleaned = 2;', 'bool   cleaned=2;'),
    check: checkFormat,
    says: /cleaned/,
  },
];

test('a copy without a plant has no problem', () => {
  const root = copyOfContract();
  const checks = new Set(plants.map(({ check }) => check));
  assert.equal(checks.size, 5);
  for (const check of checks) assert.deepEqual(check(root), []);
});

for (const { name, plant, check, says } of plants) {
  test(`notices ${name}`, () => {
    const root = copyOfContract();
    plant(root);
    const problems = check(root);
    assert.match(problems.map((problem) => problem.detail).join('\n'), says);
    for (const problem of problems) assert.notEqual(problem.remedy, '');
  });
}

function script(
  name: string,
  ...args: readonly string[]
): { status: number | null; output: string } {
  const path = join(repositoryRoot, 'tools', 'proto', name);
  const result = spawnSync(process.execPath, [path, ...args], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  return { status: result.status, output: result.stdout + result.stderr };
}

test('check.ts exits 0 on the repository itself', () => {
  const { status, output } = script('check.ts');
  assert.equal(status, 0, output);
  assert.match(output, /5 checks passed/);
});

test('check.ts exits 1 and says what to do', () => {
  const root = copyOfContract();
  edit(root, services, 'bool cleaned = 2;', 'bool cleaned = 2;\n  bool x = 3;');
  const { status, output } = script('check.ts', '--root', root);
  assert.equal(status, 1);
  assert.match(output, /run `make proto`/);
});

test('check.ts exits 2 on an unknown argument', () => {
  assert.equal(script('check.ts', '--rot', '.').status, 2);
});

test('generate.ts refuses a breaking change and leaves the image alone', () => {
  const root = copyOfContract();
  const before = readFileSync(join(root, imagePath));
  edit(root, provider, '  string last_error = 12;\n', '');
  const { status, output } = script('generate.ts', '--root', root);
  assert.equal(status, 1);
  assert.match(output, /proto breaking/);
  assert.deepEqual(readFileSync(join(root, imagePath)), before);
});

test('generate.ts repairs drift', () => {
  const root = copyOfContract();
  edit(root, services, 'bool cleaned = 2;', 'bool cleaned = 2;\n  bool x = 3;');
  assert.equal(script('generate.ts', '--root', root).status, 0);
  assert.deepEqual([...checkImage(root), ...checkGenerated(root)], []);
});
