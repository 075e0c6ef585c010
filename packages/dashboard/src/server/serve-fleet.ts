// A fleet over HTTP: the web app, the API and the streams, whoever feeds the model.

import type { Runtime } from '@bigfleet/base';
import {
  createScraper,
  type Logger,
  type MetricRegistry,
  type ReadinessSource,
} from '@bigfleet/telemetry';
import type { Fleet } from '../model/index.ts';
import { type Listening, startDashboardHttp } from './http/http-server.ts';
import { WebFiles } from './http/web-files.ts';
import { createDashboardMetrics } from './metrics.ts';
import { StreamHub } from './stream/stream-hub.ts';
import { ViewAnswers } from './views/view-answers.ts';

export interface ServeFleetOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
  readonly fleet: Fleet;
  readonly readiness: ReadinessSource;
  readonly listen: Listening;
  readonly webDir: string;
  readonly allowedHosts: readonly string[];
  readonly maxStreams: number;
  readonly version: string;
  /** Counts up with progress that the model is not told of. */
  readonly outsideVersion: () => number;
  readonly onBug: (bug: unknown) => void;
}

export interface ServedFleet {
  /** As bound. */
  readonly address: string;
  close(): Promise<void>;
}

/** In a checkout. */
const WEB_BUILD = 'make web';

export async function serveFleet(options: ServeFleetOptions): Promise<ServedFleet> {
  const { runtime, logger, registry, fleet, readiness, maxStreams, onBug } = options;
  const metrics = createDashboardMetrics(registry);
  const unsubscribe = fleet.subscribe((event) => {
    if (event.name === 'source') metrics.sourceChanged(event.data);
  });
  const answers = new ViewAnswers({
    clock: runtime.clock,
    fleet,
    outsideVersion: options.outsideVersion,
    observe: metrics.observeView,
  });
  const hub = new StreamHub({
    runtime,
    fleet,
    answers,
    version: options.version,
    maxStreams,
    onEvent: metrics.event,
    onReset: metrics.reset,
    onBug,
  });
  metrics.collect({
    sizes: () => fleet.sizes(),
    streams: () => hub.size,
    ringChars: () => hub.ringChars,
  });
  const web = new WebFiles({ root: options.webDir, buildCommand: WEB_BUILD });
  if (!(await web.isBuilt())) {
    logger.warn('the web app is not built: pages answer 503, the API is served', {
      web_dir: options.webDir,
      build_with: WEB_BUILD,
    });
  }
  const scraper = createScraper({ timers: runtime.timers, registries: [registry] });
  try {
    const http = await startDashboardHttp({
      runtime,
      logger,
      address: options.listen,
      routes: { answers, web, scraper, readiness },
      hub,
      maxStreams,
      allowedHosts: options.allowedHosts,
      onRefusedStream: metrics.refusedStream,
    });
    return {
      address: http.address,
      close: async () => {
        hub.close();
        unsubscribe();
        await http.close();
      },
    };
  } catch (error) {
    hub.close();
    unsubscribe();
    throw error;
  }
}
