// What a golden vector must decode to, built from the names and values of its lines. The generated
// code supplies only the zero message; every value comes from the vector.

import { create, type DescMessage, type Message } from '@bufbuild/protobuf';
import type { FieldLine, FieldValue } from './vector-syntax.ts';

export function expectedMessage(schema: DescMessage, lines: readonly FieldLine[]): Message {
  const message = create(schema);
  for (const line of lines) setLine(schema, message, line);
  return message;
}

function setLine(schema: DescMessage, message: Message, line: FieldLine): void {
  const local = localName(line.name);
  const child = schema.fields.find((field) => field.name === line.name)?.message;
  const current: unknown = Reflect.get(message, local);
  if (line.label === 'map' && line.value.kind === 'entry') {
    if (typeof current !== 'object' || current === null) throw new Error(`${line.name}: no map`);
    const value = plainValue(line.value.value, child);
    // Assignment would lose a `__proto__` key.
    Object.defineProperty(current, line.value.key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  } else if (line.label === 'repeated') {
    if (!Array.isArray(current)) throw new Error(`${line.name}: no list`);
    const values = line.value.kind === 'packed' ? line.value.items : [line.value];
    current.push(...values.map((value) => plainValue(value, child)));
  } else if (line.label.startsWith('oneof:')) {
    const group = localName(line.label.slice('oneof:'.length));
    Reflect.set(message, group, { case: local, value: plainValue(line.value, child) });
  } else {
    Reflect.set(message, local, plainValue(line.value, child));
  }
}

function plainValue(value: FieldValue, child: DescMessage | undefined): unknown {
  switch (value.kind) {
    case 'string':
      return value.text;
    case 'bytes':
      return value.bytes;
    case 'int32':
    case 'uint32':
      return Number(value.int);
    case 'int64':
    case 'uint64':
      return value.int;
    case 'double':
      return value.double;
    case 'bool':
      return value.bool;
    case 'enum':
      return value.number;
    case 'message':
      if (child === undefined) throw new Error('the descriptor has no message here');
      return expectedMessage(child, value.lines);
    case 'packed':
    case 'entry':
      throw new Error(`${value.kind} is not a single value`);
  }
}

function localName(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
