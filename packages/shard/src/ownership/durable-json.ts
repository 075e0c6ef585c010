// Strict reading of the files of this folder. A file that is not understood to the last key may hold
// a freeze or an owner that we would drop, so everything unexpected is damage and is named with its
// place. What is well-formed may still have lost something, so each file carries a checksum.
// Throws FileProblem, which only the two parsers of this folder catch.

import { createHash } from 'node:crypto';
import { BigFleetError, describeThrown } from '@bigfleet/base';
import type { DurableFile } from '../rails/durable-file.ts';

export class FileProblem extends Error {
  override readonly name = 'FileProblem';
}

export type Fields = Readonly<Record<string, unknown>>;

/** Bounds of what a file may hold: a damaged one must not fill the memory either. */
const MAX_FILE_ENTRIES = 1_000_000;
const MAX_TEXT = 4_096;

/** A file from the JSON text of an object: the same with its checksum as the last key. */
export function sealed(body: string): string {
  return `${body.slice(0, -1)},"sha256":"${checksumOf(body)}"}\n`;
}

function checksumOf(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

export function parseFields(text: string, version: number, keys: readonly string[]): Fields {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new FileProblem('it is not JSON');
  }
  const fields = fieldsOf(parsed, 'the file', ['version', ...keys, 'sha256']);
  if (fields['version'] !== version) throw new FileProblem('its version is unknown');
  const { sha256, ...body } = fields;
  if (sha256 !== checksumOf(JSON.stringify(body))) throw new FileProblem('its checksum is wrong');
  return body;
}

/** Exactly these keys. */
export function fieldsOf(value: unknown, where: string, keys: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FileProblem(`${where} is not an object`);
  }
  const found = Object.keys(value);
  const stray = found.find((key) => !keys.includes(key));
  if (stray !== undefined) throw new FileProblem(`${where} has the unknown key ${stray}`);
  const missing = keys.find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) throw new FileProblem(`${where} lacks ${missing}`);
  return value as Fields;
}

export function textOf(fields: Fields, key: string, isEmptyFine = false): string {
  const value = fields[key];
  if (typeof value !== 'string' || value.length > MAX_TEXT) {
    throw new FileProblem(`${key} is not a text`);
  }
  if (value === '' && !isEmptyFine) throw new FileProblem(`${key} is empty`);
  return value;
}

export function flagOf(fields: Fields, key: string): boolean {
  const value = fields[key];
  if (typeof value !== 'boolean') throw new FileProblem(`${key} is not true or false`);
  return value;
}

export function countOf(fields: Fields, key: string): number {
  const value = fields[key];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new FileProblem(`${key} is not a whole number`);
  }
  return value;
}

/** 64-bit numbers are stored as texts: JSON would round them. */
export function bigOf(fields: Fields, key: string): bigint {
  const value = fields[key];
  if (typeof value !== 'string' || !/^\d{1,19}$/.test(value)) {
    throw new FileProblem(`${key} is not a number written as a text`);
  }
  return BigInt(value);
}

export function listOf<T>(fields: Fields, key: string, read: (item: unknown) => T): readonly T[] {
  const value = fields[key];
  if (!Array.isArray(value)) throw new FileProblem(`${key} is not a list`);
  if (value.length > MAX_FILE_ENTRIES) throw new FileProblem(`${key} is too long`);
  return (value as readonly unknown[]).map(read);
}

export function idsOf(fields: Fields, key: string): readonly string[] {
  const ids = listOf(fields, key, (item) => textOf({ [key]: item }, key));
  if (new Set(ids).size !== ids.length) throw new FileProblem(`${key} names something twice`);
  return ids;
}

/** A write that fails throws: what was not made durable did not happen. */
export async function writeDurably(file: DurableFile, text: string): Promise<void> {
  try {
    await file.replace(text);
  } catch (cause) {
    const problem = `${file.path} cannot be written: ${describeThrown(cause)}`;
    throw new BigFleetError('ownership_unwritable', problem, { cause });
  }
}
