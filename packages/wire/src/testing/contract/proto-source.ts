// The .proto files as text: stripping our additions, compiling the rest with buf, and the rules of
// wire-additions.md §1 that only the text can break (the comment above additions, a second copy).
// Works line by line, which our formatter guarantees: one statement per line.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createFileRegistry, type DescFile, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { firstAddedNumber } from './additions.ts';
import { protoRoot, repositoryRoot } from './repository.ts';

export const additionsComment = '// bigfleet additions (spec/wire-additions.md)';

export const establishedPaths: readonly string[] = [
  'capacity',
  'provider',
  'shard',
  'shardread',
  'coordinator',
].map((name) => `bigfleet/v1alpha1/${name}.proto`);

/** A field has a type before its name; an enum value does not, and is never stripped. */
const fieldStatement = /^\s*(?:repeated |optional )?[\w.]+(?:<[\w., ]+>)? \w+ = (\d+)[^;]*;/;

export function readProto(path: string): string {
  return readFileSync(join(protoRoot, path), 'utf8');
}

export function stripAdditions(text: string): string {
  return text
    .split('\n')
    .filter((line) => {
      const number = fieldStatement.exec(line)?.[1];
      const added = number !== undefined && Number(number) >= firstAddedNumber;
      const ours = line.startsWith('import "bigfleet/ext/') || line.trim() === additionsComment;
      return !added && !ours;
    })
    .join('\n');
}

/** Compiles path → text with buf in a folder of its own. */
export function compileProtos(sources: ReadonlyMap<string, string>): DescFile[] {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-proto-'));
  try {
    for (const [path, text] of sources) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const image = join(folder, 'image.binpb');
    const buf = join(repositoryRoot, 'node_modules', '.bin', 'buf');
    const args = [
      'build',
      folder,
      '--exclude-source-info',
      '--as-file-descriptor-set',
      '-o',
      image,
    ];
    const { status, stderr } = spawnSync(buf, args, { timeout: 60_000, encoding: 'utf8' });
    if (status !== 0) throw new Error(`buf build exited with ${status}: ${stderr}`);
    const set = fromBinary(FileDescriptorSetSchema, readFileSync(image));
    return [...createFileRegistry(set).files];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What is wrong with the placement of additions in one established file; empty when nothing is. */
export function additionPlacementProblems(path: string, text: string): string[] {
  const problems: string[] = [];
  const blocks: { marked: boolean }[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const at = `${path}:${index + 1}`;
    const block = blocks.at(-1);
    const number = fieldStatement.exec(line)?.[1];
    if (line.trim() === additionsComment) {
      if (block === undefined || block.marked) problems.push(`${at}: misplaced comment`);
      else block.marked = true;
    } else if (/bigfleet additions/i.test(line)) {
      problems.push(`${at}: the comment must read exactly: ${additionsComment}`);
    } else if (number !== undefined) {
      const added = Number(number) >= firstAddedNumber;
      if (added && block?.marked !== true) problems.push(`${at}: added field without the comment`);
      if (!added && block?.marked === true)
        problems.push(`${at}: established field below additions`);
    }
    const code = line.replace(/\/\/.*/, '').replace(/"[^"]*"/g, '');
    for (const brace of code.match(/[{}]/g) ?? []) {
      if (brace === '{') blocks.push({ marked: false });
      else blocks.pop();
    }
  }
  return problems;
}

const ignoredFolders: ReadonlySet<string> = new Set([
  'node_modules',
  '.git',
  '.cache',
  'dist',
  'coverage',
]);

/** Every .proto below the folder, relative to it, except in folders that are not sources. */
export function findProtos(root: string, under = ''): string[] {
  return readdirSync(join(root, under), { withFileTypes: true }).flatMap((entry) => {
    const path = under === '' ? entry.name : `${under}/${entry.name}`;
    if (entry.isDirectory()) return ignoredFolders.has(entry.name) ? [] : findProtos(root, path);
    return entry.isFile() && entry.name.endsWith('.proto') ? [path] : [];
  });
}

/** Files that say they are the same contract: same package and same base name. */
export function duplicateProtos(root: string): string[] {
  const owners = new Map<string, string>();
  const duplicates: string[] = [];
  for (const path of findProtos(root).sort()) {
    const text = readFileSync(join(root, path), 'utf8');
    const key = `${/^package ([\w.]+);/m.exec(text)?.[1] ?? ''}/${basename(path)}`;
    const owner = owners.get(key);
    if (owner !== undefined) duplicates.push(`${path} repeats ${owner}`);
    owners.set(key, owner ?? path);
  }
  return duplicates;
}
