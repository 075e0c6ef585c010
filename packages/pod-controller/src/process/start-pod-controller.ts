// `bigfleet-unschedulable-pod-controller` from its settings to a running process (kubernetes §5.5). It
// speaks to the API server alone, and the start waits for nobody: a server that is not there is waited
// for, and `/readyz` says so.

import { readFile } from 'node:fs/promises';
import { BigFleetError, describeThrown, type Runtime } from '@bigfleet/base';
import {
  clusterAccess,
  FirstSync,
  HttpsTransport,
  KubeClient,
  runningProgram,
  type RunningProgram,
  WriteLanes,
} from '@bigfleet/kube';
import {
  createSampledMessage,
  type ListenAddress,
  type Logger,
  type LogMessage,
  type MetricRegistry,
  openSamples,
  startHttpServer,
  startProcessMetrics,
} from '@bigfleet/telemetry';
import { OUTCOMES, PodController, type PodControllerHooks } from '../controller/controller.ts';
import { type ClassTable, parseClassTable } from '../derive/class-defaults.ts';

export interface PodControllerSettings {
  /** Empty: `$KUBECONFIG`, then the Pod's own. */
  readonly kubeconfig: string;
  readonly metricsAddress: ListenAddress;
  readonly qps: number;
  readonly burst: number;
  /** File of PriorityClass defaults; empty: none. */
  readonly classDefaultsFile: string;
  readonly daemonSetPods: 'count' | 'ignore';
  readonly excludedNamespaces: ReadonlySet<string>;
  /** Refuses an API server without TLS. */
  readonly requireTls: boolean;
  /** Empty: no raw samples. */
  readonly traceSamples: string;
  readonly hasDebugEndpoints: boolean;
  readonly build: { readonly version: string; readonly revision: string };
}

export interface StartPodControllerOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
  readonly settings: PodControllerSettings;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const COMPONENT = 'unschedulable-pod-controller';
const PROGRAM = 'bigfleet-unschedulable-pod-controller';
const FIELD_MANAGER = 'bigfleet-upc';
const LINES_PER_SECOND = 10;

const controllerStarted: LogMessage<'qps' | 'burst' | 'daemonset_pods' | 'priority_classes'> = {
  level: 'info',
  text: 'pod controller started',
};
const controllerStopped: LogMessage<never> = { level: 'info', text: 'pod controller stopped' };
const requestCreated: LogMessage<'pod' | 'cr'> = {
  level: 'info',
  text: 'created CapacityRequest',
};
const pendingFailed: LogMessage<'cr' | 'err'> = {
  level: 'warn',
  text: 'patch initial Pending status failed (non-fatal)',
};
const reconcileFailed: LogMessage<'pod' | 'err'> = {
  level: 'warn',
  text: 'reconcile failed; will retry',
};

export async function startPodController(
  options: StartPodControllerOptions,
): Promise<RunningProgram> {
  const { runtime, registry, settings, env } = options;
  const logger = options.logger.child({ component: COMPONENT });
  await using opened = new AsyncDisposableStack();
  const classes = await readClassDefaults(settings.classDefaultsFile);
  logger.event(controllerStarted, {
    qps: settings.qps,
    burst: settings.burst,
    daemonset_pods: settings.daemonSetPods,
    priority_classes: classes.size,
  });
  const build = { component: COMPONENT, ...settings.build };
  const own = startProcessMetrics({ registry, clock: runtime.clock, build });
  opened.defer(() => own.stop());
  // It speaks no gRPC: there is no peer whose identity could go unverified.
  own.transportInsecure.set(0);
  const { kubeconfig, requireTls } = settings;
  const access = await clusterAccess({ kubeconfig, env, clock: runtime.clock, requireTls });
  const userAgent = `${PROGRAM}/${settings.build.version}`;
  const transport = new HttpsTransport({ access, userAgent });
  opened.defer(() => transport.close());
  const lanes = new WriteLanes({ runtime, qps: settings.qps, burst: settings.burst });
  const client = new KubeClient({ runtime, transport, lanes, fieldManager: FIELD_MANAGER });
  const sync: FirstSync = new FirstSync({ runtime, logger, unsynced: () => controller.unsynced() });
  opened.defer(() => sync.close());
  const controller: PodController = new PodController({
    runtime,
    client,
    rules: {
      classes,
      daemonSetPods: settings.daemonSetPods,
      excludedNamespaces: settings.excludedNamespaces,
    },
    hooks: await hooksOf({ ...options, logger }, sync, opened),
  });
  const http = await startHttpServer({
    runtime,
    logger,
    address: settings.metricsAddress,
    registries: [registry],
    readiness: sync,
    debugEndpoints: settings.hasDebugEndpoints,
  });
  const stopper = new AbortController();
  const running = Promise.all([controller.run(stopper.signal), sync.done(stopper.signal)]);
  return runningProgram({
    logger,
    sync,
    http,
    running,
    end: (reason) => stopper.abort(reason),
    opened: opened.move(),
    stopped: controllerStopped,
  });
}

async function hooksOf(
  options: StartPodControllerOptions,
  sync: FirstSync,
  opened: AsyncDisposableStack,
): Promise<PodControllerHooks> {
  const { runtime, logger, registry, settings } = options;
  const reconciles = registry.counter({
    name: 'bigfleet_unschedulable_pod_controller_reconciles_total',
    help: 'Looks at Pods, by what came of them.',
    labels: { outcome: OUTCOMES },
  });
  const sampled = <K extends string>(message: LogMessage<K>) => {
    const line = createSampledMessage({ runtime, logger, message, perSecond: LINES_PER_SECOND });
    opened.defer(() => line.close());
    return line;
  };
  const created = sampled(requestCreated);
  const pending = sampled(pendingFailed);
  const failures = sampled(reconcileFailed);
  const { traceSamples: path } = settings;
  const samples = await openSamples({ path, runtime, registry, logger }, opened);
  const durations = samples?.series('reconcile');
  return {
    reconciled: (outcome) => reconciles.labels({ outcome }).inc(),
    performed: (startMs, seconds) => durations?.record(startMs, seconds),
    created: (pod, cr) => created.log({ pod, cr }),
    pendingFailed: (cr, err) => pending.log({ cr, err }),
    failed: (pod, err) => failures.log({ pod, err }),
    reflectorFailed: (resource, failure) => sync.failed(resource, failure),
  };
}

/** A mistake in the file refuses the start: a penalty that counted as absent would cost money. */
async function readClassDefaults(file: string): Promise<ClassTable> {
  if (file === '') return new Map();
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const problem = `read priority-class-defaults: ${describeThrown(error)}`;
    throw new BigFleetError('class_defaults_invalid', problem, { cause: error });
  });
  const parsed = parseClassTable(text);
  if (parsed.ok) return parsed.value;
  const problem = `parse priority-class-defaults: ${file}: ${parsed.error}`;
  throw new BigFleetError('class_defaults_invalid', problem);
}
