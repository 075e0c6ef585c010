// The wire contract as sections of a page: services, messages and enums of the five established files
// and of our package, in the order in which the files declare them. Names, numbers and comments come
// from the compiled files, so the page cannot say what is not sent.

import { fromBinary } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  type FileDescriptorProto,
  FileDescriptorSetSchema,
  type ServiceDescriptorProto,
} from '@bufbuild/protobuf/wkt';
import { cell, code, filledTable, table } from './markdown.ts';
import { VOCABULARY } from './vocabulary.ts';

/** From this number on, a field of an established message is ours (docs/spec/wire-additions.md §1). */
const FIRST_ADDITION = 1000;
const OURS = 'bigfleet.ext.v1alpha1';
/** Stands above the first added field of a message, and says nothing about that field. */
const ADDITION_MARK = /bigfleet additions \([^)]*\)/g;

/** Numbers of the parts of a descriptor in a comment's path. */
const PATH = { message: 4, enum: 5, service: 6, field: 2, enumValue: 2, method: 2 } as const;

/** The order in which a reader meets the files; each must exist. */
const FILES = [
  'bigfleet/v1alpha1/capacity.proto',
  'bigfleet/v1alpha1/provider.proto',
  'bigfleet/v1alpha1/shard.proto',
  'bigfleet/v1alpha1/coordinator.proto',
  'bigfleet/v1alpha1/shardread.proto',
  'bigfleet/ext/v1alpha1/types.proto',
  'bigfleet/ext/v1alpha1/services.proto',
];

/** `image`: what buf builds from api/proto, comments included. */
export function protoSections(image: Uint8Array): string[] {
  const { file: all } = fromBinary(FileDescriptorSetSchema, image);
  const files = FILES.map((name) => {
    const found = all.find((file) => file.name === name);
    if (found === undefined) throw new Error(`api/proto has no ${name}`);
    return found;
  });
  const unknown = all.filter(({ name }) => name.startsWith('bigfleet/') && !FILES.includes(name));
  if (unknown.length > 0) throw new Error(`no place on the page for ${unknown[0]?.name ?? ''}`);
  const writer = new ProtoWriter(files);
  const sections = files.flatMap((file) => writer.fileSection(file));
  writer.assertComplete();
  return sections;
}

class ProtoWriter {
  readonly #known: ReadonlySet<string>;
  readonly #used = new Set<string>();
  readonly #missing: string[] = [];

  constructor(files: readonly FileDescriptorProto[]) {
    this.#known = new Set(
      files.flatMap((file) =>
        [...file.messageType, ...file.enumType].map(({ name }) => `.${file.package}.${name}`),
      ),
    );
  }

  /** A field that nobody explains, or a word that no field has, stops the page. */
  assertComplete(): void {
    const unused = Object.keys(VOCABULARY).filter((key) => !this.#used.has(key));
    const problems = [
      ...this.#missing.map((field) => `${field} has no meaning`),
      ...unused.map((key) => `no field takes its meaning from ${key}`),
    ];
    if (problems.length > 0)
      throw new Error(`tools/reference/vocabulary.ts: ${problems.join('; ')}`);
  }

  fileSection(file: FileDescriptorProto): string[] {
    const comments = commentsOf(file);
    const base = file.name.split('/').at(-1) ?? file.name;
    const head = file.sourceCodeInfo?.location.find(({ path }) => path[0] === SYNTAX_PATH);
    const opening = [...(head?.leadingDetachedComments ?? []), head?.leadingComments ?? ''].join(
      ' ',
    );
    return [
      `### ${base}${file.package === OURS ? ' (ours)' : ''}`,
      `\`api/proto/${file.name}\`, package \`${file.package}\`. ${cell(opening)}`.trim(),
      ...file.service.flatMap((service, at) => this.#service(service, comments, at)),
      ...file.messageType.flatMap((message, at) => this.#message(file, message, comments, at)),
      ...file.enumType.flatMap((each, at) => enumSection(each, comments, at)),
    ];
  }

  #service(service: ServiceDescriptorProto, comments: Comments, at: number): string[] {
    const stream = (isStream: boolean, type: string): string =>
      `${isStream ? 'stream ' : ''}${this.#named(type)}`;
    const rows = service.method.map((method, index) => [
      code(method.name),
      stream(method.clientStreaming, method.inputType),
      stream(method.serverStreaming, method.outputType),
      cell(comments.of(PATH.service, at, PATH.method, index)),
    ]);
    return [
      `#### Service ${service.name}`,
      cell(comments.of(PATH.service, at)),
      filledTable(['Call', 'Takes', 'Answers', 'Meaning'], rows),
    ];
  }

  #message(
    file: FileDescriptorProto,
    message: DescriptorProto,
    comments: Comments,
    at: number,
  ): string[] {
    const rows = message.field.map((field, index) => [
      code(field.name),
      String(field.number),
      this.#type(message, field),
      this.#meaning(message, field, comments.of(PATH.message, at, PATH.field, index)),
      file.package === OURS || field.number >= FIRST_ADDITION ? 'ours' : '',
    ]);
    const marked = file.package !== OURS && rows.some(([, , , , mark]) => mark !== '');
    const reserved = message.reservedRange.map(({ start, end }) =>
      end - 1 > start ? `${start} to ${end - 1}` : String(start),
    );
    return [
      `#### ${message.name}`,
      cell(comments.of(PATH.message, at)),
      table(
        ['Field', '#', 'Type', 'Meaning', ...(marked ? ['Whose'] : [])],
        rows.map((row) => (marked ? row : row.slice(0, -1))),
        'No fields.',
      ),
      reserved.length === 0 ? '' : `Reserved: ${reserved.join(', ')}.`,
    ];
  }

  #meaning(message: DescriptorProto, field: FieldDescriptorProto, comment: string): string {
    if (comment !== '') return cell(comment);
    const keys = [`${message.name}.${field.name}`, field.name];
    const key = keys.find((each) => Object.hasOwn(VOCABULARY, each));
    if (key !== undefined) {
      this.#used.add(key);
      return cell(VOCABULARY[key] ?? '');
    }
    if (field.type === FieldDescriptorProto_Type.MESSAGE) return 'As its type says.';
    this.#missing.push(`${message.name}.${field.name}`);
    return '';
  }

  #type(message: DescriptorProto, field: FieldDescriptorProto): string {
    const entry = message.nestedType.find(
      ({ name, options }) => options?.mapEntry === true && field.typeName.endsWith(`.${name}`),
    );
    if (entry !== undefined) {
      const [from, to] = entry.field.map((part) => this.#single(part));
      return `map of ${from} to ${to}`;
    }
    const prefix =
      field.label === FieldDescriptorProto_Label.REPEATED
        ? 'repeated '
        : field.proto3Optional
          ? 'optional '
          : oneofOf(message, field);
    return `${prefix}${this.#single(field)}`;
  }

  #single({ type, typeName }: FieldDescriptorProto): string {
    if (typeName !== '') return this.#named(typeName);
    return FieldDescriptorProto_Type[type].toLowerCase();
  }

  #named(typeName: string): string {
    const name = typeName.split('.').at(-1) ?? typeName;
    return this.#known.has(typeName) ? `[${name}](#${name.toLowerCase()})` : code(name);
  }
}

/** Number of `syntax` in a file's descriptor: the comment above it opens the file. */
const SYNTAX_PATH = 12;

function oneofOf(message: DescriptorProto, field: FieldDescriptorProto): string {
  if (field.oneofIndex === undefined || !Object.hasOwn(field, 'oneofIndex')) return '';
  const name = message.oneofDecl[field.oneofIndex]?.name;
  return name === undefined ? '' : `one of \`${name}\`: `;
}

function enumSection(each: EnumDescriptorProto, comments: Comments, at: number): string[] {
  const rows = each.value.map(({ name, number }, index) => [
    code(name),
    String(number),
    cell(comments.of(PATH.enum, at, PATH.enumValue, index)),
  ]);
  return [
    `#### ${each.name}`,
    cell(comments.of(PATH.enum, at)),
    filledTable(['Value', '#', 'Meaning'], rows),
  ];
}

interface Comments {
  of(...path: readonly number[]): string;
}

function commentsOf(file: FileDescriptorProto): Comments {
  const byPath = new Map(
    file.sourceCodeInfo?.location.map((location) => [
      location.path.join('.'),
      `${location.leadingComments} ${location.trailingComments}`,
    ]),
  );
  return {
    of: (...path) => (byPath.get(path.join('.')) ?? '').replace(ADDITION_MARK, '').trim(),
  };
}
