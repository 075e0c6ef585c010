// Makes a provider out of a backend and a store: wiring and the order of a start (provider-contract §13).
// Load, seed or reconcile, recover what was interrupted, then ready. A start that fails closes what
// it opened and reports; it never goes on with less than the store acknowledged.

import { adminHandlers } from './call/admin-handlers.ts';
import { capacityHandlers } from './call/handlers.ts';
import { uuidV7 } from './model/operation-id.ts';
import { readinessGate } from './backend/readiness.ts';
import { Fleet } from './fleet/fleet.ts';
import { Ledger } from './fleet/ledger.ts';
import { loadImage } from './fleet/load-image.ts';
import { MachineLister } from './list/list-machines.ts';
import { resolveOptions } from './options.ts';
import type { CreateProviderOptions, Provider } from './provider.ts';
import { FailedCleanup } from './upkeep/failed-cleanup.ts';
import { reportHostLost, reportInterruption } from './upkeep/host-events.ts';
import { Reconciler, startReconcileLoop } from './upkeep/reconcile.ts';
import { isEmptyStore, recover, seed } from './upkeep/recover.ts';
import { shutDown } from './upkeep/shutdown.ts';
import { BackendHealth, ReadyState } from './work/ready-state.ts';
import { KeyedSections } from './work/keyed-sections.ts';
import type { Kit } from './work/kit.ts';
import { UnsavedSaver } from './work/unsaved-saver.ts';
import { Workers } from './work/workers.ts';

/** Ten minutes is the longest grace that shards send by default, plus the margin of a drain. */
const WANTED_DRAIN_TIMEOUT_MS = 600_000 + 150_000;

export async function createProvider(options: CreateProviderOptions): Promise<Provider> {
  const lifetime = new AbortController();
  try {
    const kit = await assemble(options, lifetime);
    await start(kit);
    return facade(kit, lifetime);
  } catch (error) {
    lifetime.abort(error);
    await closeAll(options);
    throw error;
  }
}

async function closeAll({ backend, store }: CreateProviderOptions): Promise<void> {
  try {
    await backend.close?.();
  } finally {
    await store.close();
  }
}

type Assembled = Awaited<ReturnType<typeof assemble>>;

/** Everything that lives as long as the provider, each part with what it needs of the others. */
async function assemble(given: CreateProviderOptions, lifetime: AbortController) {
  const { backend, store, runtime, logger, observer = {} } = given;
  const options = resolveOptions(given.options ?? {});
  const gate = readinessGate(backend, options.readiness);
  const image = await loadImage(store, () => uuidV7(runtime));
  const fleet = new Fleet(image, observer);
  const ledger = new Ledger(fleet, store, runtime.clock, observer);
  const ready = new ReadyState(observer);
  const kit: Kit = {
    backend,
    store,
    runtime,
    logger,
    observer,
    options,
    gate,
    fleet,
    ledger,
    ready,
    sections: new KeyedSections(),
    cleaning: new Set(),
    health: new BackendHealth(observer, ready),
    lifetime: lifetime.signal,
  };
  const cleanup = new FailedCleanup(kit);
  fleet.onChanged = (record, before) => cleanup.observe(record, before);
  return {
    ...kit,
    workers: new Workers(kit),
    cleanup,
    reconciler: new Reconciler(kit),
    saver: new UnsavedSaver(kit),
    isFirstStart: isEmptyStore(image),
  };
}

async function start(kit: Assembled): Promise<void> {
  const { logger, options, fleet, reconciler, cleanup, ready } = kit;
  if (options.timeouts.drain < WANTED_DRAIN_TIMEOUT_MS) {
    logger.warn('the drain timeout is below the longest grace plus its margin', {
      timeout_ms: options.timeouts.drain,
      wanted_ms: WANTED_DRAIN_TIMEOUT_MS,
    });
  }
  for (const record of fleet.records()) cleanup.observe(record, undefined);
  if (kit.isFirstStart) await seed(kit, reconciler);
  else await reconciler.run();
  await recover(kit);
  startReconcileLoop(kit, reconciler);
  ready.clear('starting');
}

function facade(kit: Assembled, lifetime: AbortController): Provider {
  const rules = { ...kit.options, canDelete: kit.backend.deleteInstance !== undefined };
  const lister = new MachineLister(kit.fleet, kit.ledger, kit.runtime);
  let stopped: ReturnType<Provider['shutdown']> | undefined;
  return {
    handlers: capacityHandlers({ ...kit, rules }, lister),
    adminHandlers: adminHandlers(kit),
    get ready() {
      return kit.ready.ready;
    },
    get notReadyReasons() {
      return kit.ready.reasons;
    },
    reconcile: () => kit.reconciler.run(),
    reportHostLost: (machineId, reason) => reportHostLost(kit, machineId, reason),
    reportInterruption: (event) => reportInterruption(kit, event),
    resetFailed: (machineId) => kit.cleanup.reset(machineId),
    shutdown: (graceMs) => {
      stopped ??= shutDown({ ...kit, lifetime }, graceMs);
      return stopped;
    },
  };
}
