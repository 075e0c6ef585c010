// Proves that every message, field, enum value and method of the generated contract has the name,
// number, type and bytes that the specification's tables give it, in both directions.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import {
  type DescField,
  type DescMessage,
  fromBinary,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf';
import { assemble } from './assemble.ts';
import { expectedMessage } from './expected.ts';
import { goldenVectors, protoRoot, readApiFile, tableLines } from './repository.ts';
import { allFiles, enumsOf, messagesOf } from './schemas.ts';
import type { FieldLine, FieldValue, Vector } from './vector-syntax.ts';

const messages = new Map(messagesOf(allFiles).map((message) => [message.typeName, message]));
const vectors = goldenVectors();

function schemaOf(vector: Vector): DescMessage {
  const schema = messages.get(vector.message);
  assert.ok(schema, `${vector.origin}: no generated message ${vector.message}`);
  return schema;
}

for (const vector of vectors) {
  test(`golden ${vector.message} (${vector.origin})`, () => {
    const schema = schemaOf(vector);
    checkLines(schema, vector.lines, vector.origin);
    checkBytes(schema, vector.lines);
    // Alone, a line cannot hide behind another of the same value: two booleans swapped show here.
    for (const line of vector.lines) checkBytes(schema, [line]);
  });
}

function checkBytes(schema: DescMessage, lines: readonly FieldLine[]): void {
  const bytes = assemble(lines);
  const decoded = fromBinary(schema, bytes);
  assert.deepStrictEqual(decoded, expectedMessage(schema, lines));
  assert.deepStrictEqual(toBinary(schema, decoded), bytes);
  // The encoder on its own: a message that was never decoded.
  assert.deepStrictEqual(toBinary(schema, expectedMessage(schema, lines)), bytes);
}

/** Each line against the generated descriptor: number, label and type, also in nested messages. */
function checkLines(schema: DescMessage, lines: readonly FieldLine[], origin: string): void {
  for (const line of lines) {
    const at = `${origin} ${schema.typeName}.${line.name}`;
    const field = schema.fields.find((candidate) => candidate.name === line.name);
    assert.ok(field, `${at}: no such field`);
    if (line.number !== undefined) assert.equal(field.number, line.number, at);
    assert.equal(labelOf(field), line.label, at);
    assert.equal(typeOf(field), line.type, at);
    checkEnumValues(field, line.value, at);
    if (line.value.kind === 'message') {
      assert.ok(field.message, at);
      checkLines(field.message, line.value.lines, origin);
    }
  }
}

function checkEnumValues(field: DescField, value: FieldValue, at: string): void {
  if (value.kind === 'packed') {
    for (const item of value.items) checkEnumValues(field, item, at);
  }
  if (value.kind !== 'enum') return;
  const known = field.enum?.values.find((candidate) => candidate.name === value.name);
  assert.equal(known?.number, value.number, `${at}: ${value.name}`);
}

function labelOf(field: DescField): string {
  if (field.fieldKind === 'map') return 'map';
  if (field.fieldKind === 'list') return 'repeated';
  if (field.oneof !== undefined) return `oneof:${field.oneof.name}`;
  return field.proto.proto3Optional ? 'optional' : 'singular';
}

function typeOf(field: DescField): string {
  const value = field.message?.name ?? field.enum?.name ?? scalarName(field.scalar);
  return field.fieldKind === 'map' ? `${scalarName(field.mapKey)},${value}` : value;
}

function scalarName(scalar: ScalarType | undefined): string {
  return scalar === undefined ? 'none' : (ScalarType[scalar] ?? 'unknown').toLowerCase();
}

test('the list of generated files is the list of .proto files', () => {
  const onDisk = readdirSync(protoRoot, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.proto'))
    .map((path) => path.replaceAll('\\', '/').replace(/\.proto$/, ''));
  assert.deepEqual(allFiles.map((file) => file.name).sort(), onDisk.sort());
});

test('every message and every field has a vector', () => {
  assert.ok(messages.size >= 100, `saw only ${messages.size} messages`);
  const covered = new Map<string, Set<string>>();
  for (const { message, lines } of vectors) {
    const fields = covered.get(message) ?? new Set();
    for (const line of lines) if (line.number !== undefined) fields.add(line.name);
    covered.set(message, fields);
  }
  const missing: string[] = [];
  for (const schema of messages.values()) {
    const fields = covered.get(schema.typeName);
    if (fields === undefined) missing.push(schema.typeName);
    for (const field of schema.fields) {
      if (fields?.has(field.name) !== true) missing.push(`${schema.typeName}.${field.name}`);
    }
  }
  assert.deepEqual(missing, [], 'add them to api/golden from the specification');
});

test('every enum value stands in a vector', () => {
  const seen = new Set<string>();
  const collect = (schema: DescMessage, lines: readonly FieldLine[]): void => {
    for (const { name, value } of lines) {
      const field = schema.fields.find((candidate) => candidate.name === name);
      const values = value.kind === 'packed' ? value.items : [value];
      for (const item of values) {
        if (item.kind === 'enum') seen.add(`${field?.enum?.typeName}.${item.name}=${item.number}`);
      }
      if (value.kind === 'message' && field?.message) collect(field.message, value.lines);
    }
  };
  for (const vector of vectors) collect(schemaOf(vector), vector.lines);
  const declared = enumsOf(allFiles).flatMap((declaredEnum) =>
    declaredEnum.values.map((value) => `${declaredEnum.typeName}.${value.name}=${value.number}`),
  );
  assert.deepEqual([...seen].sort(), declared.sort());
});

test('no two fields of one type share a value within a vector', () => {
  for (const vector of vectors) {
    const owners = new Map<string, string>();
    for (const line of vector.lines) {
      if (line.number === undefined || line.value.kind === 'bool') continue;
      if (isZero(line.value)) continue;
      const sameNumber: FieldLine = { ...line, number: 1 };
      const key = `${line.type} ${Buffer.from(assemble([sameNumber])).toString('hex')}`;
      const owner = owners.get(key) ?? line.name;
      assert.equal(owner, line.name, `${vector.origin}: same value as ${owner}`);
      owners.set(key, line.name);
    }
  }
});

function isZero(value: FieldValue): boolean {
  return (value.kind === 'double' && value.double === 0) || ('int' in value && value.int === 0n);
}

test('every method has the path, types and kind of the specification', () => {
  const declared = allFiles.flatMap((file) =>
    file.services.flatMap((service) =>
      service.methods.map((method) =>
        [
          `/${service.typeName}/${method.name}`,
          method.input.name,
          method.output.name,
          kindWords[method.methodKind],
        ].join(' '),
      ),
    ),
  );
  assert.deepEqual(declared.sort(), tableLines(readApiFile('golden', 'services.txt')).sort());
});

const kindWords = {
  unary: 'unary',
  server_streaming: 'server',
  client_streaming: 'client',
  bidi_streaming: 'bidi',
} as const;
