// Proves the rules of wire-additions.md §1: without our additions the contract is the established
// one, with them it differs only by what the tables name, and each of these checks can fail.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  additionsInDescriptors,
  additionsInSpec,
  additionsInTable,
  firstAddedNumber,
  typesInSpec,
} from './additions.ts';
import { descriptorText } from './descriptor-text.ts';
import {
  additionPlacementProblems,
  additionsComment,
  compileProtos,
  duplicateProtos,
  establishedPaths,
  findProtos,
  readProto,
  stripAdditions,
} from './proto-source.ts';
import { additionsSpecPath, readApiFile, repositoryRoot } from './repository.ts';
import { allFiles, enumsOf, establishedFiles, messagesOf } from './schemas.ts';

function strippedText(plant: (text: string) => string = (text) => text): string {
  const sources = establishedPaths.map(
    (path) => [path, stripAdditions(plant(readProto(path)))] as const,
  );
  return descriptorText(compileProtos(new Map(sources)));
}

test('without additions the five files are the established contract', () => {
  const actual = strippedText();
  assert.doesNotMatch(actual, /bigfleet\.ext|bigfleet\/ext/);
  assert.equal(actual, readApiFile('descriptor', 'established.txt'));
});

const planted: readonly (readonly [string, string, string])[] = [
  ['a renumbered field', 'string last_error = 12;', 'string last_error = 16;'],
  ['a renamed field', 'string last_error = 12;', 'string last_fault = 12;'],
  ['a removed field', '  string last_error = 12;\n', ''],
  ['a retyped field', 'int64 ttl_seconds = 3;', 'int32 ttl_seconds = 3;'],
  ['a changed label', 'string cluster = 14;', 'repeated string cluster = 14;'],
  [
    'a field of ours with a small number',
    'string cluster = 14;',
    'string cluster = 14;\nint32 x = 16;',
  ],
  [
    'a grown enum',
    'MACHINE_STATE_FAILED = 8;',
    'MACHINE_STATE_FAILED = 8;\nMACHINE_STATE_LOST = 9;',
  ],
  [
    'an enum grown from 1000',
    'CAPACITY_TYPE_SPOT = 4;',
    'CAPACITY_TYPE_SPOT = 4;\nCAPACITY_TYPE_X = 1000;',
  ],
  ['a freed reserved number', '  reserved 11;\n', ''],
  [
    'a seventh provider call',
    'rpc Get(',
    'rpc Watch(MachineRef) returns (stream Machine);\nrpc Get(',
  ],
  [
    'a stream made unary',
    'returns (stream InspectNeedsResponse)',
    'returns (InspectNeedsResponse)',
  ],
];

for (const [name, before, after] of planted) {
  test(`the established contract notices ${name}`, () => {
    let found = false;
    const text = strippedText((source) => {
      found ||= source.includes(before);
      return source.replace(before, after);
    });
    assert.ok(found, `the plant no longer applies: ${before}`);
    assert.notEqual(text, readApiFile('descriptor', 'established.txt'));
  });
}

test('generated code and .proto files describe the same contract', () => {
  const sources = new Map(
    findProtos(join(repositoryRoot, 'api', 'proto')).map(
      (path) => [path, readProto(path)] as const,
    ),
  );
  assert.equal(sources.size, allFiles.length);
  assert.equal(descriptorText(compileProtos(sources)), descriptorText(allFiles));
});

test('every field from 1000 is in api/additions.txt, and the reverse', () => {
  const table = additionsInTable(readApiFile('additions.txt'));
  assert.ok(table.length >= 50, `only ${table.length} additions`);
  assert.equal(new Set(table).size, table.length, 'a line stands twice');
  assert.deepEqual(additionsInDescriptors(establishedFiles).sort(), table.sort());
});

test('additions count up from 1000 in each message', () => {
  for (const message of messagesOf(establishedFiles)) {
    const retired = message.proto.reservedRange
      .filter(({ start }) => start >= firstAddedNumber)
      .flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i));
    const numbers = message.fields
      .map((field) => field.number)
      .filter((number) => number >= firstAddedNumber)
      .concat(retired)
      .sort((a, b) => a - b);
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => firstAddedNumber + index),
      message.typeName,
    );
  }
});

test('messages and enums of ours number from 1 in their own package', () => {
  const ours = allFiles.filter((file) => file.proto.package === 'bigfleet.ext.v1alpha1');
  assert.equal(ours.length, 2);
  for (const message of messagesOf(ours)) {
    for (const field of message.fields) assert.ok(field.number < firstAddedNumber, String(field));
  }
  for (const established of [...messagesOf(establishedFiles), ...enumsOf(establishedFiles)]) {
    assert.equal(established.file.proto.package, 'bigfleet.v1alpha1');
  }
});

test('api/additions.txt and the descriptors agree with the specification', () => {
  const markdown = readFileSync(additionsSpecPath, 'utf8');
  const table = additionsInTable(readApiFile('additions.txt'));
  assert.deepEqual(additionsInSpec(markdown).sort(), table.sort());

  const ours = allFiles.filter((file) => file.proto.package === 'bigfleet.ext.v1alpha1');
  const messages = new Map(messagesOf(ours).map((message) => [message.name, message]));
  const enums = new Map(enumsOf(ours).map((descEnum) => [descEnum.name, descEnum]));
  const unseen = new Set([...messages.keys(), ...enums.keys()]);
  for (const { name, isEnum, members } of typesInSpec(markdown)) {
    unseen.delete(name);
    const actual = isEnum ? enums.get(name)?.values : messages.get(name)?.fields;
    assert.ok(actual, `${name} is in the specification and not in the contract`);
    assert.equal(actual.length, members.size, name);
    for (const [member, number] of members) {
      const found = actual.find((candidate) => candidate.number === number);
      // Enum values are abbreviated to their ends; field names are whole.
      const matches = isEnum ? found?.name.endsWith(member) : found?.name === member;
      assert.ok(matches, `${name}.${member}=${number}, found ${found?.name}`);
    }
  }
  for (const name of unseen) {
    assert.match(name, /(Request|Response)$/, `${name} is not in the specification`);
    assert.equal(messages.get(name)?.fields.length, 0, `${name} must be empty`);
  }
});

test('the specification parser sees a changed number and a changed type', () => {
  const row =
    '| Message | Field | # | Type | x |\n|---|---|---|---|---|\n| `A` | `b`, `c` | 1000, 1001 | string, `D` | |\n| | `e` | 1002 | repeated `F`, prose | |\n';
  assert.deepEqual(additionsInSpec(row), ['A b 1000 string', 'A c 1001 D', 'A e 1002 repeated F']);
  const types = typesInSpec(
    '| Message | Fields |\n|---|---|\n| `GRequest` / `…Response` | `h`=1 string / `i`=1, `j`=2 int32 |\n| enum `K` | `K_A`=0, `…_B`=1 |\n',
  );
  assert.deepEqual(
    types.map(({ name, isEnum, members }) => [name, isEnum, [...members]]),
    [
      ['GRequest', false, [['h', 1]]],
      [
        'GResponse',
        false,
        [
          ['i', 1],
          ['j', 2],
        ],
      ],
      [
        'K',
        true,
        [
          ['K_A', 0],
          ['_B', 1],
        ],
      ],
    ],
  );
});

test('the reserved numbers of the specification are reserved, and no others', () => {
  const expected = {
    'bigfleet.v1alpha1.CapacityNeed': [4],
    'bigfleet.v1alpha1.Hello': [2],
    'bigfleet.v1alpha1.NodeStateUpdate': [7],
    'bigfleet.v1alpha1.AvailableCapacityUpdate': [7, 8, 9],
    'bigfleet.v1alpha1.Machine': [11],
    'bigfleet.v1alpha1.ListFilter': [2, 3],
    'bigfleet.v1alpha1.CreateRequest': [2],
    'bigfleet.v1alpha1.ShardSummary': [5, 6],
    'bigfleet.v1alpha1.Shortfall': [4],
    'bigfleet.ext.v1alpha1.ActuationHold': [2],
  };
  const actual: Record<string, number[]> = {};
  for (const type of [...messagesOf(allFiles), ...enumsOf(allFiles)]) {
    // A range ends before its end in a message and at its end in an enum.
    const extra = type.kind === 'enum' ? 1 : 0;
    const numbers = type.proto.reservedRange.flatMap(({ start, end }) =>
      Array.from({ length: end + extra - start }, (_, index) => start + index),
    );
    if (numbers.length > 0) actual[type.typeName] = numbers;
  }
  assert.deepEqual(actual, expected);
});

test('capacity.proto and provider.proto carry nothing of ours', () => {
  for (const path of ['bigfleet/v1alpha1/capacity.proto', 'bigfleet/v1alpha1/provider.proto']) {
    assert.equal(stripAdditions(readProto(path)), readProto(path));
    assert.doesNotMatch(readProto(path), /^import/m);
  }
});

test('ext/types.proto imports capacity.proto and provider.proto, nothing else', () => {
  const types = allFiles.find((file) => file.name === 'bigfleet/ext/v1alpha1/types');
  assert.deepEqual(types?.proto.dependency, [
    'bigfleet/v1alpha1/capacity.proto',
    'bigfleet/v1alpha1/provider.proto',
  ]);
});

test('additions stand under their comment at the end of the message', () => {
  for (const path of establishedPaths) {
    assert.deepEqual(additionPlacementProblems(path, readProto(path)), []);
  }
});

const misplaced: readonly (readonly [string, string])[] = [
  ['no comment', 'message A {\n  string a = 1;\n  string b = 1000;\n}'],
  [
    'an established field below',
    `message A {\n  ${additionsComment}\n  string b = 1000;\n  string a = 1;\n}`,
  ],
  ['another wording', 'message A {\n  // BigFleet additions\n  string b = 1000;\n}'],
  [
    'the comment of another message',
    `message A {\n  ${additionsComment}\n}\nmessage B {\n  string b = 1000;\n}`,
  ],
  [
    'the comment twice',
    `message A {\n  ${additionsComment}\n  ${additionsComment}\n  string b = 1000;\n}`,
  ],
  ['a map without the comment', 'message A {\n  map<string, int32> b = 1000;\n}'],
];

for (const [name, text] of misplaced) {
  test(`the placement check notices ${name}`, () => {
    assert.notDeepEqual(additionPlacementProblems('planted', text), []);
  });
}

test('one copy of each .proto in the tree, all of the contract below api/proto', () => {
  const found = findProtos(repositoryRoot);
  assert.ok(found.length >= allFiles.length, `saw only ${found.length} files`);
  assert.deepEqual(duplicateProtos(repositoryRoot), []);
  const elsewhere = found.filter((path) => !path.startsWith('api/proto/'));
  for (const path of elsewhere) {
    assert.doesNotMatch(
      readFileSync(join(repositoryRoot, path), 'utf8'),
      /^package bigfleet\./m,
      path,
    );
  }
});

test('the search for copies notices a vendored one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-copies-'));
  try {
    for (const where of ['api', 'providers/x/vendor']) {
      mkdirSync(join(folder, where), { recursive: true });
      writeFileSync(
        join(folder, where, 'provider.proto'),
        readProto('bigfleet/v1alpha1/provider.proto'),
      );
    }
    assert.deepEqual(duplicateProtos(folder), [
      'providers/x/vendor/provider.proto repeats api/provider.proto',
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
