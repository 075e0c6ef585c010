// Reports of conformance runs, as `bfconformance --out` writes them (conformance §7). Read once, at the start:
// a report that cannot be read stops it, because a badge that is silently missing would say that the provider
// was never judged. Only what a badge shows is taken; what a newer program adds is no reason to refuse.

import { readFile, stat } from 'node:fs/promises';
import { BigFleetError, describeThrown } from '@bigfleet/base';
import { z } from 'zod';
import type { ConformanceFacts } from '../model/index.ts';

/** Ninety-three behaviours with their findings are a hundredth of it. */
const MAX_BYTES = 16 * 2 ** 20;

const count = z.int().min(0);
const profiles = z.array(z.string().max(64)).max(64);

const report = z.object({
  provider: z.string().max(512),
  profiles,
  timestamp: z.iso.datetime(),
  behaviors: z.array(z.unknown()),
  summary: z.object({
    total_behaviors: count,
    passed: count,
    failed: count,
    skipped: count,
    not_implemented: count,
    required_failed: count,
    required_missing: count,
  }),
  verdict: z.enum(['CERTIFIED', 'FAILED', 'INCOMPLETE']),
  /** Ours; the specification's own keys do not have it. */
  certified_profiles: profiles.default([]),
});

/** By the provider's name. Throws `conformance_report_invalid`. */
export async function readConformanceReports(
  files: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, ConformanceFacts>> {
  const read = new Map<string, ConformanceFacts>();
  for (const [provider, file] of files) {
    try {
      read.set(provider, parseReport(await textOf(file)));
    } catch (error) {
      const problem = `--conformance=${provider}=${file}: ${describeThrown(error)}`;
      throw new BigFleetError('conformance_report_invalid', problem, { cause: error });
    }
  }
  return read;
}

async function textOf(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > MAX_BYTES) throw new Error(`it has ${size} bytes, a report at most ${MAX_BYTES}`);
  return await readFile(file, 'utf8');
}

function parseReport(text: string): ConformanceFacts {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`it is no JSON: ${describeThrown(error)}`, { cause: error });
  }
  const parsed = report.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
    throw new Error(`it is no report of bfconformance: ${where}${issue?.message ?? ''}`);
  }
  const { data } = parsed;
  const { summary } = data;
  if (summary.total_behaviors !== data.behaviors.length) {
    const counted = `${data.behaviors.length} behaviours, its summary ${summary.total_behaviors}`;
    throw new Error(`it is no report of bfconformance: it lists ${counted}`);
  }
  return {
    verdict: data.verdict,
    profiles: data.profiles,
    certifiedProfiles: data.certified_profiles,
    behaviours: summary.total_behaviors,
    passed: summary.passed,
    failed: summary.failed,
    skipped: summary.skipped,
    notRun: summary.not_implemented,
    requiredFailed: summary.required_failed,
    requiredMissing: summary.required_missing,
    atMs: Date.parse(data.timestamp),
    subject: data.provider,
  };
}
