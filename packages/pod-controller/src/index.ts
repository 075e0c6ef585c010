// Pods to CapacityRequests.

export * from './controller/controller.ts';
export type { PodRules } from './controller/records.ts';
export { type ClassDefaults, type ClassTable, parseClassTable } from './derive/class-defaults.ts';
export { type Derived, deriveSpec, requestObject, type RequestObject } from './derive/derive.ts';
export {
  type PodControllerSettings,
  startPodController,
  type StartPodControllerOptions,
} from './process/start-pod-controller.ts';
