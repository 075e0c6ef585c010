// Read-only server and the web app.

export { createFleet, type Fleet, type Outside } from './model/index.ts';
export { apiSchema } from './server/http/routes.ts';
export { serveFleet, type ServedFleet, type ServeFleetOptions } from './server/serve-fleet.ts';
export type { DashboardSettings } from './server/settings.ts';
export type { Network } from './server/sources/network.ts';
export {
  type PodNeeds,
  type RunningDashboard,
  startDashboard,
  type StartDashboardOptions,
} from './server/start-dashboard.ts';
