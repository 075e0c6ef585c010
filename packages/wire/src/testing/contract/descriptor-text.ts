// A descriptor as sorted, reviewable lines: one per message, field, enum value, reserved range,
// method and import. Comments, order and file layout do not show; everything that a peer can
// notice does.

import {
  type DescEnum,
  type DescField,
  type DescFile,
  type DescMessage,
  ScalarType,
} from '@bufbuild/protobuf';
import { messagesOf } from './schemas.ts';

export function descriptorText(files: readonly DescFile[]): string {
  return `${files.flatMap(fileLines).sort().join('\n')}\n`;
}

function fileLines(file: DescFile): string[] {
  const path = `${file.name}.proto`;
  return [
    `file ${path} ${file.proto.syntax} package ${file.proto.package}`,
    ...file.proto.dependency.map((dependency) => `import ${path} ${dependency}`),
    ...messagesOf([file]).flatMap(messageLines),
    ...file.enums.flatMap(enumLines),
    ...file.services.flatMap((service) =>
      service.methods.map(
        (method) =>
          `rpc /${service.typeName}/${method.name} ${method.input.typeName} ${method.output.typeName} ${method.methodKind}`,
      ),
    ),
  ];
}

function messageLines(message: DescMessage): string[] {
  return [
    `message ${message.typeName}`,
    // The end of a message's reserved range is exclusive, that of an enum is not.
    ...message.proto.reservedRange.map(
      ({ start, end }) => `reserved ${message.typeName} ${start}..${end - 1}`,
    ),
    ...message.proto.reservedName.map((name) => `reserved ${message.typeName} ${name}`),
    ...message.fields.map(fieldLine),
    ...message.nestedEnums.flatMap(enumLines),
  ];
}

function fieldLine(field: DescField): string {
  return `field ${field.parent.typeName}.${field.name} ${field.number} ${typeText(field)} ${labelText(field)}`;
}

function typeText(field: DescField): string {
  const value = field.message?.typeName ?? field.enum?.typeName ?? scalarText(field.scalar);
  return field.fieldKind === 'map' ? `map<${scalarText(field.mapKey)},${value}>` : value;
}

function scalarText(scalar: ScalarType | undefined): string {
  return scalar === undefined ? '' : (ScalarType[scalar] ?? '').toLowerCase();
}

function labelText(field: DescField): string {
  if (field.fieldKind === 'map' || field.fieldKind === 'list') return 'repeated';
  if (field.oneof !== undefined) return `oneof ${field.oneof.name}`;
  return field.proto.proto3Optional ? 'optional' : 'singular';
}

function enumLines(descEnum: DescEnum): string[] {
  return [
    `enum ${descEnum.typeName}`,
    ...descEnum.proto.reservedRange.map(
      ({ start, end }) => `reserved ${descEnum.typeName} ${start}..${end}`,
    ),
    ...descEnum.values.map((value) => `value ${descEnum.typeName}.${value.name} ${value.number}`),
  ];
}
