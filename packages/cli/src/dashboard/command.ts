// `bigfleet dashboard`: the read-only web app over shards and coordinator. A program of its own as well, so
// that its image carries neither of them.

import { serveCommand, type ServeOptions, type ServeSpec, type Serving } from '../command.ts';
import { type Program, programWording, unhandledBug } from '../program.ts';
import { type DashboardFlags, dashboardFlags } from './flags.ts';
import { type DashboardCommand, dashboardSettings, dashboardWarnings } from './settings.ts';

const spec: ServeSpec<DashboardFlags, DashboardCommand> = {
  name: 'dashboard',
  summary: 'a read-only web app: what the fleet is doing, why, and what it costs',
  flags: dashboardFlags,
  settings: dashboardSettings,
  warnings: dashboardWarnings,
  start,
};

export const dashboardCommand = serveCommand(spec);

const wording = programWording('bigfleet-dashboard', 'dashboard');

export const dashboardProgram: Program = { wording, command: serveCommand({ ...spec, wording }) };

/** Loaded when it starts: a shard, which is another subcommand, pays for none of it. */
async function start(options: ServeOptions<DashboardCommand>): Promise<Serving> {
  const { startDashboard } = await import('@bigfleet/dashboard');
  const { openPodNeeds } = await import('./pod-needs.ts');
  const { runtime, env, port } = options;
  const { settings, kubeconfigs } = options.settings;
  const { requireTls } = settings.tls;
  const podNeeds = await openPodNeeds({ runtime, env, kubeconfigs, requireTls });
  const running = await startDashboard({ ...options, settings, podNeeds });
  return { ...running, failed: Promise.race([running.failed, unhandledBug(port)]) };
}
