// Kubernetes protobuf bodies, which kubectl's typed commands send (`create namespace`, `drain`, `auth
// can-i`), read into JSON. Only the kinds that those commands write; a field that the table does not know
// is dropped only when it is empty, so that nothing a client meant is lost in silence.

import type { Obj } from './api-server/json.ts';

type FieldKind =
  | 'text'
  | 'int'
  | 'bool'
  | 'bytes'
  | 'textMap'
  | 'bytesMap'
  | 'intOrString'
  | 'time'
  | Message;

interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  readonly isList: boolean;
}

type Message = ReadonlyMap<number, Field>;

function one(name: string, kind: FieldKind = 'text'): Field {
  return { name, kind, isList: false };
}

function many(name: string, kind: FieldKind = 'text'): Field {
  return { name, kind, isList: true };
}

function message(fields: Readonly<Record<number, Field>>): Message {
  return new Map(Object.entries(fields).map(([number, field]) => [Number(number), field]));
}

const OWNER = message({
  1: one('kind'),
  3: one('name'),
  4: one('uid'),
  5: one('apiVersion'),
  6: one('controller', 'bool'),
  7: one('blockOwnerDeletion', 'bool'),
});
const META = message({
  1: one('name'),
  2: one('generateName'),
  3: one('namespace'),
  5: one('uid'),
  6: one('resourceVersion'),
  8: one('creationTimestamp', 'time'),
  11: one('labels', 'textMap'),
  12: one('annotations', 'textMap'),
  13: many('ownerReferences', OWNER),
  14: many('finalizers'),
});
const EXPRESSION = message({ 1: one('key'), 2: one('operator'), 3: many('values') });
const SELECTOR = message({
  1: one('matchLabels', 'textMap'),
  2: many('matchExpressions', EXPRESSION),
});
const PRECONDITIONS = message({ 1: one('uid'), 2: one('resourceVersion') });
const DELETE_OPTIONS = message({
  1: one('gracePeriodSeconds', 'int'),
  2: one('preconditions', PRECONDITIONS),
  4: one('propagationPolicy'),
  5: many('dryRun'),
});
const CONTAINER = message({ 1: one('name'), 2: one('image'), 3: many('command'), 4: many('args') });
const POD_TEMPLATE = message({
  1: one('metadata', META),
  2: one('spec', message({ 2: many('containers', CONTAINER) })),
});
const RESOURCE_ATTRIBUTES = message({
  1: one('namespace'),
  2: one('verb'),
  3: one('group'),
  4: one('version'),
  5: one('resource'),
  6: one('subresource'),
  7: one('name'),
});
const PATH_ATTRIBUTES = message({ 1: one('path'), 2: one('verb') });

/** By kind; every one of them has its metadata in field 1. */
const KINDS: Readonly<Record<string, Message>> = {
  DeleteOptions: DELETE_OPTIONS,
  Eviction: message({ 1: one('metadata', META), 2: one('deleteOptions', DELETE_OPTIONS) }),
  Namespace: message({
    1: one('metadata', META),
    2: one('spec', message({ 1: many('finalizers') })),
  }),
  ConfigMap: message({
    1: one('metadata', META),
    2: one('data', 'textMap'),
    3: one('binaryData', 'bytesMap'),
    4: one('immutable', 'bool'),
  }),
  Secret: message({
    1: one('metadata', META),
    2: one('data', 'bytesMap'),
    3: one('type'),
    4: one('stringData', 'textMap'),
  }),
  ServiceAccount: message({ 1: one('metadata', META) }),
  PriorityClass: message({
    1: one('metadata', META),
    2: one('value', 'int'),
    3: one('globalDefault', 'bool'),
    4: one('description'),
    5: one('preemptionPolicy'),
  }),
  PodDisruptionBudget: message({
    1: one('metadata', META),
    2: one(
      'spec',
      message({
        1: one('minAvailable', 'intOrString'),
        2: one('selector', SELECTOR),
        3: one('maxUnavailable', 'intOrString'),
      }),
    ),
  }),
  Deployment: message({
    1: one('metadata', META),
    2: one(
      'spec',
      message({
        1: one('replicas', 'int'),
        2: one('selector', SELECTOR),
        3: one('template', POD_TEMPLATE),
      }),
    ),
  }),
  SelfSubjectAccessReview: message({
    1: one('metadata', META),
    2: one(
      'spec',
      message({
        1: one('resourceAttributes', RESOURCE_ATTRIBUTES),
        2: one('nonResourceAttributes', PATH_ATTRIBUTES),
      }),
    ),
  }),
};

export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
const MAGIC = [0x6b, 0x38, 0x73, 0x00];
const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;

/** The object, or undefined when its kind or one of its fields is not in the table. */
export function readProtobuf(bytes: Uint8Array): Obj | undefined {
  if (MAGIC.some((byte, i) => bytes[i] !== byte)) return undefined;
  const envelope = [...wireFields(bytes.subarray(MAGIC.length))];
  const part = (number: number): Uint8Array =>
    envelope.find((field) => field.number === number)?.bytes ?? new Uint8Array();
  const [apiVersion = '', kind = ''] = [1, 2].map((number) =>
    textOf([...wireFields(part(1))].find((field) => field.number === number)?.bytes),
  );
  const table = KINDS[kind];
  const body = table === undefined ? undefined : readMessage(part(2), table);
  return body === undefined ? undefined : { apiVersion, kind, ...body };
}

interface WireField {
  readonly number: number;
  readonly value: number;
  readonly bytes: Uint8Array;
}

const NOTHING = new Uint8Array();

function* wireFields(bytes: Uint8Array): IterableIterator<WireField> {
  let position = 0;
  const varint = (): number => {
    let result = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[position++] ?? 0;
      result |= BigInt(byte & 0x7f) << shift;
      if ((byte & 0x80) === 0) return Number(BigInt.asIntN(64, result));
    }
  };
  while (position < bytes.length) {
    const tag = varint();
    const number = tag >>> 3;
    switch (tag & 7) {
      case VARINT:
        yield { number, value: varint(), bytes: NOTHING };
        break;
      case LENGTH: {
        const length = varint();
        yield { number, value: 0, bytes: bytes.subarray(position, position + length) };
        position += length;
        break;
      }
      default:
        position += (tag & 7) === FIXED64 ? 8 : 4;
        yield { number, value: 1, bytes: NOTHING };
    }
  }
}

function readMessage(bytes: Uint8Array, table: Message): Obj | undefined {
  const result: Obj = {};
  for (const field of wireFields(bytes)) {
    const known = table.get(field.number);
    if (known === undefined) {
      if (isEmpty(field)) continue;
      return undefined;
    }
    const { name, kind, isList } = known;
    if (kind === 'textMap' || kind === 'bytesMap') {
      const [key, value] = entryOf(field.bytes, kind === 'bytesMap');
      result[name] = { ...(result[name] as Obj | undefined), [key]: value };
      continue;
    }
    const value = readValue(field, kind);
    if (value === undefined && typeof kind === 'object') return undefined;
    // An empty scalar is how this encoding writes an absent one.
    if (value === undefined || value === '') continue;
    if (isList) result[name] = [...((result[name] as unknown[] | undefined) ?? []), value];
    else result[name] = value;
  }
  return result;
}

/** Empty, or made of empty parts only: `status {}` and the like. */
function isEmpty({ value, bytes }: WireField): boolean {
  if (bytes.length === 0) return value === 0;
  try {
    return [...wireFields(bytes)].every(
      (inner) => inner.bytes.length < bytes.length && isEmpty(inner),
    );
  } catch {
    return false;
  }
}

function readValue(field: WireField, kind: Exclude<FieldKind, 'textMap' | 'bytesMap'>): unknown {
  switch (kind) {
    case 'text':
      return textOf(field.bytes);
    case 'int':
      return field.value;
    case 'bool':
      return field.value !== 0;
    case 'bytes':
      return Buffer.from(field.bytes).toString('base64');
    case 'time':
      return undefined;
    case 'intOrString': {
      const parts = new Map([...wireFields(field.bytes)].map((part) => [part.number, part]));
      return (parts.get(1)?.value ?? 0) === 0
        ? (parts.get(2)?.value ?? 0)
        : textOf(parts.get(3)?.bytes);
    }
    default:
      return readMessage(field.bytes, kind);
  }
}

function entryOf(bytes: Uint8Array, isBinary: boolean): [string, string] {
  const parts = new Map([...wireFields(bytes)].map((part) => [part.number, part.bytes]));
  const value = parts.get(2) ?? NOTHING;
  return [textOf(parts.get(1)), isBinary ? Buffer.from(value).toString('base64') : textOf(value)];
}

function textOf(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? NOTHING).toString('utf8');
}
