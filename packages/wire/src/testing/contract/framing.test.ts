// Proves that the structural check accepts every golden vector and refuses the malformed frames
// that the library's decoder lets through as plausible messages.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DescMessage, fromBinary } from '@bufbuild/protobuf';
import {
  ListFilterSchema,
  MachineListSchema,
  MachineSchema,
} from '../../gen/bigfleet/v1alpha1/provider_pb.ts';
import { assemble } from './assemble.ts';
import { framingProblem } from '../../framing.ts';
import { goldenVectors } from './repository.ts';
import { allFiles, messagesOf } from './schemas.ts';

const schemas = new Map(messagesOf(allFiles).map((schema) => [schema.typeName, schema]));

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
}

test('every golden vector is well framed', () => {
  for (const vector of goldenVectors()) {
    const schema = schemas.get(vector.message);
    assert.ok(schema);
    assert.equal(framingProblem(schema, assemble(vector.lines)), undefined, vector.origin);
  }
});

const legal: readonly (readonly [string, DescMessage, string])[] = [
  ['an empty message', MachineSchema, ''],
  ['an unknown varint', MachineSchema, 'c0 3e 05'],
  ['an unknown fixed32 and fixed64', MachineSchema, 'c5 3e 01020304 c1 3e 0102030405060708'],
  ['unknown bytes that look like nothing', MachineSchema, 'c2 3e 03 ff ff ff'],
  ['an unpacked list', ListFilterSchema, '08 01 08 02'],
  ['a packed list', ListFilterSchema, '0a 02 01 02'],
  ['a map entry without key and value', MachineSchema, '52 00'],
  ['a varint of ten bytes', ListFilterSchema, '20 ff ff ff ff ff ff ff ff ff 01'],
];

for (const [name, schema, hex] of legal) {
  test(`accepts ${name}`, () => {
    assert.equal(framingProblem(schema, bytesOf(hex)), undefined);
    assert.doesNotThrow(() => fromBinary(schema, bytesOf(hex)));
  });
}

/** `lenient`: the library decodes it, which is why the check exists. */
const malformed: readonly (readonly [string, DescMessage, string, 'lenient' | 'strict'])[] = [
  ['a nested message that runs past its length', MachineSchema, '1a 02 0a 03 61 62 63', 'lenient'],
  ['a map entry that runs past its length', MachineSchema, '52 02 0a 03 61 62 63', 'lenient'],
  ['a packed element that runs past its list', ListFilterSchema, '0a 01 80 01', 'lenient'],
  ['a string written as a varint', MachineSchema, '08 01 61', 'lenient'],
  ['a number written as bytes', ListFilterSchema, '22 01 08 01', 'lenient'],
  ['an empty string written as a varint', MachineSchema, '08 00', 'lenient'],
  ['a zero written as empty bytes', ListFilterSchema, '22 00', 'lenient'],
  ['a group', MachineSchema, 'c3 3e c4 3e', 'lenient'],
  ['a length beyond the message', MachineSchema, '0a 05 61', 'strict'],
  ['a length of four gigabytes', MachineSchema, '0a ff ff ff ff 0f', 'strict'],
  ['a length of 2^63', MachineSchema, '0a ff ff ff ff ff ff ff ff 7f', 'strict'],
  ['a deep length beyond the message', MachineListSchema, '0a 04 1a 05 0a 00', 'strict'],
  ['a varint without end', MachineSchema, '10 80', 'strict'],
  ['a varint of eleven bytes', MachineSchema, '10 80 80 80 80 80 80 80 80 80 80 01', 'strict'],
  ['a short double', MachineSchema, '39 00 00', 'strict'],
  ['field number 0', MachineSchema, '00 00', 'strict'],
  ['field number 2^29', MachineSchema, '80 80 80 80 10 00', 'strict'],
  ['wire type 7', MachineSchema, '0f', 'strict'],
  ['an end without a group', MachineSchema, 'c4 3e', 'strict'],
];

for (const [name, schema, hex, library] of malformed) {
  test(`refuses ${name}`, () => {
    assert.match(framingProblem(schema, bytesOf(hex)) ?? '', /^byte \d+/);
    if (library === 'strict') assert.throws(() => fromBinary(schema, bytesOf(hex)));
    else assert.doesNotThrow(() => fromBinary(schema, bytesOf(hex)));
  });
}

test('every cut of a golden vector that is not between two fields is refused', () => {
  let cuts = 0;
  for (const vector of goldenVectors()) {
    const schema = schemas.get(vector.message);
    assert.ok(schema);
    const bytes = assemble(vector.lines);
    const ends = new Set(
      vector.lines.map((_, index) => assemble(vector.lines.slice(0, index)).length),
    );
    for (let length = 0; length < bytes.length; length++) {
      const cut = bytes.subarray(0, length);
      if (ends.has(length)) {
        assert.equal(framingProblem(schema, cut), undefined);
        assert.doesNotThrow(() => fromBinary(schema, cut));
      } else {
        cuts += 1;
        assert.notEqual(
          framingProblem(schema, cut),
          undefined,
          `${vector.origin} cut at ${length}`,
        );
        assert.throws(() => fromBinary(schema, cut), Error, `${vector.origin} cut at ${length}`);
      }
    }
  }
  assert.ok(cuts > 5_000, `only ${cuts} cuts`);
});

test('an unknown field in a map entry is refused: the library would read on inside it', () => {
  // labels { 1: "a", 5: "drain" }: the library takes the length of field 5 for a tag.
  const entry = '0a 01 61 2a 05 64 72 61 69 6e';
  assert.match(framingProblem(MachineSchema, bytesOf(`52 0a ${entry}`)) ?? '', /field 5 in a map/);
  // Unknown fields elsewhere are what a newer peer sends.
  assert.equal(framingProblem(MachineSchema, bytesOf('aa 3e 05 64 72 61 69 6e')), undefined);
});

test('a tag spelled in more than five bytes is refused', () => {
  assert.match(framingProblem(MachineSchema, bytesOf('8a 80 80 80 80 00 00')) ?? '', /illegal tag/);
});
