// A real Prometheus (Debian's) that scrapes given targets, so that metric names, label sets and
// PromQL of alerts and dashboards are tested by the program that will read them. promtool checks
// and unit-tests rule files. Everything is local: no remote write, no discovery, loopback only.

import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { requireCommand } from './packages.ts';
import { leasePort } from './ports.ts';
import { type RunningProcess, startProcess } from './process.ts';
import {
  type ActiveTarget,
  activeTargets,
  type PrometheusSample,
  type PrometheusSeries,
  queryInstant,
  queryRange,
  type RangeQuery,
} from './prometheus-api.ts';
import { HANG_MS } from './real-time.ts';
import { createTempDir } from './temp-dir.ts';

export interface ScrapeTarget {
  /** Becomes the `job` label. */
  readonly job: string;
  /** host:port */
  readonly targets: readonly string[];
  readonly metricsPath?: string;
}

export interface PrometheusOptions {
  readonly scrape: readonly ScrapeTarget[];
  /** 200 ms unless told. */
  readonly scrapeIntervalMs?: number;
  readonly ruleFiles?: readonly string[];
}

/** Resolves when it is ready; call `waitScraped` for data. */
export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const dir = createTempDir('prometheus');
  const lease = await leasePort();
  const discard = async (): Promise<void> => {
    await lease.release();
    await dir.remove();
  };
  const url = `http://127.0.0.1:${lease.port}`;
  try {
    const configFile = join(dir.path, 'prometheus.yml');
    await writeFile(configFile, prometheusConfig(options));
    const running = await startProcess({
      name: 'prometheus',
      command: requireCommand('prometheus'),
      args: [
        `--config.file=${configFile}`,
        `--storage.tsdb.path=${join(dir.path, 'data')}`,
        `--web.listen-address=127.0.0.1:${lease.port}`,
        '--log.level=warn',
      ],
      ready: { kind: 'http', url: `${url}/-/ready` },
    });
    return new Prometheus(url, running, discard);
  } catch (error) {
    await discard();
    throw error;
  }
}

export class Prometheus implements AsyncDisposable {
  readonly url: string;
  readonly process: RunningProcess;
  readonly #discard: () => Promise<void>;

  constructor(url: string, running: RunningProcess, discard: () => Promise<void>) {
    this.url = url;
    this.process = running;
    this.#discard = discard;
  }

  /**
   * Waits until every target, or every target of the given jobs, was scraped once more from now
   * on with success. The first time takes about 5 s: Prometheus starts scraping no earlier.
   */
  async waitScraped(options: { jobs?: readonly string[]; withinMs?: number } = {}): Promise<void> {
    const { jobs, withinMs = HANG_MS } = options;
    const targets = async (): Promise<readonly ActiveTarget[]> =>
      (await activeTargets(this.url)).filter(({ job }) => jobs?.includes(job) ?? true);
    const before = new Map((await targets()).map((target) => [target.url, target.lastScrape]));
    await eventually(
      async () => {
        const current = await targets();
        const bad = current.find((t) => t.health !== 'up' || t.lastScrape === before.get(t.url));
        if (bad !== undefined) throw new Error(`${bad.url}: ${bad.health} ${bad.lastError}`);
        return current.length > 0;
      },
      { what: 'prometheus scrape', withinMs, details: () => this.process.output.text() },
    );
  }

  /** PromQL now, or at a Unix time in seconds. A scalar comes as one sample without labels. */
  query(expression: string, atSeconds?: number): Promise<readonly PrometheusSample[]> {
    return queryInstant(this.url, expression, atSeconds);
  }

  queryRange(range: RangeQuery): Promise<readonly PrometheusSeries[]> {
    return queryRange(this.url, range);
  }

  async stop(): Promise<void> {
    await this.process.stop();
    await this.#discard();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** JSON, which is YAML too: nothing to escape by hand. */
function prometheusConfig(options: PrometheusOptions): string {
  const interval = `${options.scrapeIntervalMs ?? 200}ms`;
  return JSON.stringify({
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
    rule_files: options.ruleFiles ?? [],
    scrape_configs: options.scrape.map(({ job, targets, metricsPath }) => ({
      job_name: job,
      metrics_path: metricsPath ?? '/metrics',
      static_configs: [{ targets }],
    })),
  });
}

export type PromtoolVerdict =
  | { readonly ok: true; readonly output: string }
  | { readonly ok: false; readonly output: string };

/** `promtool check rules`: syntax of the file and of every expression in it. */
export function checkRules(files: readonly string[]): Promise<PromtoolVerdict> {
  return promtool(['check', 'rules', ...files]);
}

/** `promtool test rules`: the rule unit tests of the given test files. */
export function testRules(files: readonly string[]): Promise<PromtoolVerdict> {
  return promtool(['test', 'rules', ...files]);
}

function promtool(args: readonly string[]): Promise<PromtoolVerdict> {
  const program = requireCommand('promtool');
  return new Promise((resolve, reject) => {
    execFile(program, args, { timeout: HANG_MS }, (error, stdout, stderr) => {
      const output = stdout + stderr;
      if (error === null) resolve({ ok: true, output });
      else if (typeof error.code === 'number') resolve({ ok: false, output });
      else reject(new Error(`promtool ${args.join(' ')}`, { cause: error }));
    });
  });
}
